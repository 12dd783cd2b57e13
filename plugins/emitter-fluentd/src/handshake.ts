import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { TrawlerError } from "@trawler/plugin-api";

export interface Account {
  /** Name of this client. */
  readonly hostname: string;
  readonly sharedKey: string;
  readonly username: string;
  readonly password: string;
}

/** What is said first where the receiver has a shared key: HELO from it, PING from us, PONG from it. */
export interface Ping {
  readonly message: readonly string[];
  /** Throws TRAWLER_DENIED where the receiver refuses us, or does not know the key itself. */
  check(pong: unknown): void;
}

/** Answers a HELO: `["HELO", { nonce, auth, keepalive }]`. Throws TRAWLER_PLUGIN_INVALID where it is none. */
export function ping(helo: unknown, { hostname, sharedKey, username, password }: Account): Ping {
  const options: unknown = Array.isArray(helo) && helo[0] === "HELO" ? helo[1] : null;
  if (typeof options !== "object" || options === null || !("nonce" in options)) {
    throw new TrawlerError(
      "TRAWLER_UNAVAILABLE",
      "the receiver did not say HELO: it has no shared key, or is no Fluentd",
    );
  }
  const nonce = bytesOf(options.nonce);
  const auth = "auth" in options ? bytesOf(options.auth) : Buffer.alloc(0);
  const salt = randomBytes(16).toString("hex");
  const user = auth.length === 0 ? "" : username;
  const proof = auth.length === 0 ? "" : digest(auth, user, password);
  return {
    message: ["PING", hostname, salt, digest(salt, hostname, nonce, sharedKey), user, proof],
    check(pong) {
      const [word, accepted, reason, name, key]: unknown[] = Array.isArray(pong) ? pong : [];
      if (word !== "PONG" || accepted !== true) {
        throw new TrawlerError("TRAWLER_DENIED", `the receiver refused the shared key or the user: ${short(reason)}`);
      }
      const expected = digest(salt, String(name), nonce, sharedKey);
      if (!sameText(String(key), expected)) {
        throw new TrawlerError("TRAWLER_DENIED", "the receiver does not know the shared key: it may be another's");
      }
    },
  };
}

function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha512");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(value instanceof Uint8Array ? value : String(value ?? ""));
}

function sameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

const short = (reason: unknown): string =>
  String(reason)
    .replaceAll(/\p{Cc}/gu, " ")
    .slice(0, 200);
