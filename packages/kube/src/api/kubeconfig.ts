import type { RequestOptions } from "node:https";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { isRecord } from "./errors.ts";
import type { ApiTarget } from "./target.ts";

/**
 * A target from a kubeconfig file: certificates, tokens, exec and other plugins as the client library knows them.
 * The library is loaded here and only now: it costs more memory than all the rest.
 *
 * Throws TRAWLER_CONFIG_INVALID where the file cannot be read or names no server.
 */
export async function kubeconfigTarget(path: string, context?: string): Promise<ApiTarget> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const load = (): InstanceType<typeof KubeConfig> => {
    const config = new KubeConfig();
    try {
      config.loadFromFile(path);
    } catch (error) {
      throw new TrawlerError("TRAWLER_CONFIG_INVALID", `kubeconfig ${path} ${faultOf(error)}`);
    }
    if (context !== undefined) config.setCurrentContext(context);
    return config;
  };
  let config = load();
  const server = config.getCurrentCluster()?.server;
  if (!server) {
    const name = config.getCurrentContext();
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `kubeconfig ${path}: context "${name}" names no cluster`);
  }
  if (!URL.canParse(server)) {
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `kubeconfig ${path}: the cluster's server is no URL`);
  }
  return {
    server: new URL(server),
    origin: `kubeconfig ${path}`,
    credentials: async (fresh) => {
      if (fresh) config = load();
      const options: RequestOptions = {};
      try {
        await config.applyToHTTPSOptions(options);
      } catch (error) {
        // The message may quote what a credential plugin printed.
        const why = errorCode(error) ?? "a file or a credential plugin failed";
        throw new TrawlerError("TRAWLER_UNAVAILABLE", `kubeconfig ${path}: no credentials: ${why}`);
      }
      const { authorization, headers } = headersOf(options);
      const { ca, cert, key, servername, rejectUnauthorized } = options;
      return {
        authorization: authorization ?? basic(options.auth),
        headers,
        tls: {
          ...(isText(ca) ? { ca } : {}),
          ...(isText(cert) ? { cert } : {}),
          ...(isText(key) ? { key } : {}),
          ...(servername === undefined ? {} : { servername }),
          ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
        },
      };
    },
  };
}

/** What is wrong with the file, without a word of it: the parser's message quotes lines, which may hold a key. */
function faultOf(error: unknown): string {
  const code = errorCode(error);
  if (code !== undefined) return `cannot be read: ${code}`;
  if (!(error instanceof Error) || error.name === "TypeError") return "is no kubeconfig";
  if (error.name !== "YAMLException") return errorMessage(error);
  const mark: unknown = "mark" in error ? error.mark : null;
  const line = isRecord(mark) && typeof mark["line"] === "number" ? `, line ${mark["line"] + 1}` : "";
  return `is no valid YAML${line}`;
}

function headersOf(options: RequestOptions): { authorization: string | null; headers: Record<string, string> } {
  const headers: Record<string, string> = {};
  let authorization: string | null = null;
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (typeof value !== "string") continue;
    if (name.toLowerCase() === "authorization") authorization = value;
    else headers[name] = value;
  }
  return { authorization, headers };
}

function basic(auth: string | null | undefined): string | null {
  return auth ? `Basic ${Buffer.from(auth).toString("base64")}` : null;
}

function isText(value: unknown): value is string | Buffer {
  return typeof value === "string" || Buffer.isBuffer(value);
}
