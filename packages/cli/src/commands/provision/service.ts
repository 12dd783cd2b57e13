import { readFile } from "node:fs/promises";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { World } from "../../world.ts";
import { ServiceClient } from "./client.ts";

/** Options of commands that may speak to a service instead of doing it themselves. */
export interface ServiceOptions {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly ca?: string;
  /** The service's own configuration, for a command on the same host. */
  readonly config?: string;
}

/** Whether the command line or the environment names a service; a cluster or a folder that is named comes first. */
export function namesService(
  options: ServiceOptions & { readonly state?: string; readonly kubeconfig?: string },
  { env }: World,
): boolean {
  if (options.server !== undefined || options.config !== undefined) return true;
  return Boolean(env["TRAWLER_PROVISION_SERVER"]) && options.state === undefined && options.kubeconfig === undefined;
}

/** Throws TRAWLER_CONFIG_INVALID where no service is named, or its token cannot be read. */
export async function openService(options: ServiceOptions, world: World): Promise<ServiceClient> {
  const { env } = world;
  const own = options.config === undefined ? null : await fromSettings(options.config, world);
  const text = options.server ?? own?.url ?? env["TRAWLER_PROVISION_SERVER"] ?? "";
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    const found = text === "" ? "no service is named" : "the service's address is no http or https URL";
    throw new TrawlerError(
      "TRAWLER_CONFIG_INVALID",
      `${found}: --server https://HOST:9469, or TRAWLER_PROVISION_SERVER`,
    );
  }
  const tokenFile = options.tokenFile ?? own?.tokenFile ?? env["TRAWLER_PROVISION_TOKEN_FILE"];
  const token = tokenFile ? await read(tokenFile) : (own?.token ?? env["TRAWLER_PROVISION_TOKEN"] ?? null);
  const ca = options.ca ?? own?.ca ?? env["TRAWLER_PROVISION_CA"];
  return new ServiceClient(url, token === null ? null : token.trim(), ca ? await read(ca) : null);
}

interface OwnService {
  readonly url: string;
  readonly token: string | null;
  readonly tokenFile: string | undefined;
  readonly ca: string | undefined;
}

async function fromSettings(config: string, world: World): Promise<OwnService> {
  const { serveSettings } = await import("./serve/settings.ts");
  const { http, token, tls } = await serveSettings({ config }, world);
  const host = http.address.includes(":") ? `[${http.address}]` : http.address;
  return {
    url: `${tls === null ? "http" : "https"}://${host}:${http.port}`,
    token: token !== null && "text" in token ? token.text : null,
    tokenFile: token !== null && "file" in token ? token.file : undefined,
    ca: tls?.certificate,
  };
}

async function read(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => {
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `cannot read ${path}: ${errorMessage(error)}`);
  });
}
