import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { TrawlerError } from "@trawler/plugin-api";

const SHORTEST = 16;

/** The token of a file's text. Throws TRAWLER_CONFIG_INVALID where it is none that protects; never holds it. */
export function tokenOf(text: string, where: string): string {
  const token = text.trim();
  if (token.length < SHORTEST || /[^\x21-\x7e]/.test(token)) {
    throw new TrawlerError(
      "TRAWLER_CONFIG_INVALID",
      `${where} holds no usable token: it takes ${SHORTEST} or more visible ASCII characters, such as those of openssl rand -hex 32`,
    );
  }
  return token;
}

/** Compares in a time that says nothing about where they differ, nor about the token's length. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const given = /^bearer +(\S+)$/i.exec(header ?? "")?.[1] ?? "";
  const same = timingSafeEqual(digest(given), digest(token));
  return same && given !== "";
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

export function isLoopback(address: string): boolean {
  if (isIP(address) === 4) return address.startsWith("127.");
  return address === "::1" || address === "localhost";
}

/**
 * Whether a request that carries no token comes from a program of this host and not from a web page that a browser
 * shows: pages name their origin, or reach us by a name of theirs.
 */
export function isLocalProgram(headers: Readonly<Record<string, string | readonly string[] | undefined>>): boolean {
  const { host, origin } = headers;
  const name = URL.parse(`http://${typeof host === "string" ? host : ""}`)?.hostname ?? "";
  return origin === undefined && headers["sec-fetch-site"] === undefined && isLoopback(name.replace(/^\[|\]$/g, ""));
}
