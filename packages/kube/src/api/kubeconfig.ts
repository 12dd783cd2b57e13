import type { RequestOptions } from "node:https";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
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
      throw new TrawlerError("TRAWLER_CONFIG_INVALID", `kubeconfig ${path}: ${errorMessage(error)}`);
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
  return {
    server: new URL(server),
    origin: `kubeconfig ${path}`,
    credentials: async (fresh) => {
      if (fresh) config = load();
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
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
