import { readFile, stat } from "node:fs/promises";
import { errorCode, TrawlerError } from "@trawler/plugin-api";
import type { Environment } from "./proxy.ts";

/** What is presented to the server. Nothing of it may reach a message or a log. */
export interface Credentials {
  /** `Bearer …` or another value of the header; null = none. */
  readonly authorization: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: {
    readonly ca?: string | Buffer;
    readonly cert?: string | Buffer;
    readonly key?: string | Buffer;
    readonly servername?: string;
    readonly rejectUnauthorized?: boolean;
  };
}

/** An API server and how to be someone there. */
export interface ApiTarget {
  readonly server: URL;
  /** For messages: where the settings come from. */
  readonly origin: string;
  /** Current credentials; cheap when nothing changed. `fresh` = read them again whatever the files' times say. */
  credentials(fresh: boolean): Promise<Credentials>;
}

export interface TokenTargetOptions {
  readonly server: string;
  /** File with the bearer token; absent = anonymous. Read again when it changes. */
  readonly tokenFile?: string;
  /** File with the certificates that may sign the server's. Read again when it changes. */
  readonly caFile?: string;
  readonly serverName?: string;
  /** Accept any certificate of the server. For test clusters only. */
  readonly insecure?: boolean;
  readonly origin?: string;
}

/** A server with a token file and a CA file, as a pod has them. */
export function tokenTarget(options: TokenTargetOptions): ApiTarget {
  const token = options.tokenFile === undefined ? null : watchedFile(options.tokenFile);
  const ca = options.caFile === undefined ? null : watchedFile(options.caFile);
  return {
    server: new URL(options.server),
    origin: options.origin ?? "token file",
    credentials: async (fresh) => {
      const [text, authority] = await Promise.all([token?.(fresh) ?? null, ca?.(fresh) ?? null]);
      return {
        authorization: text === null ? null : `Bearer ${text.trim()}`,
        headers: {},
        tls: {
          ...(authority === null ? {} : { ca: authority }),
          ...(options.serverName === undefined ? {} : { servername: options.serverName }),
          ...(options.insecure === true ? { rejectUnauthorized: false } : {}),
        },
      };
    },
  };
}

/** Folder of a pod's own service account. */
export const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The cluster that this process runs in, or null where it runs in none. */
export function inClusterTarget(environment: Environment, folder: string = SERVICE_ACCOUNT_FOLDER): ApiTarget | null {
  const host = environment["KUBERNETES_SERVICE_HOST"];
  const port = environment["KUBERNETES_SERVICE_PORT"];
  if (!host || !port) return null;
  return tokenTarget({
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    tokenFile: `${folder}/token`,
    caFile: `${folder}/ca.crt`,
    origin: "service account",
  });
}

/** Reads a small file anew only when its identity, size or time changed. */
function watchedFile(path: string): (fresh: boolean) => Promise<string> {
  let mark = "";
  let content = "";
  return async (fresh) => {
    try {
      const { ino, mtimeMs, size } = await stat(path);
      const now = `${ino} ${mtimeMs} ${size}`;
      if (fresh || now !== mark) {
        content = await readFile(path, "utf8");
        mark = now;
      }
      return content;
    } catch (error) {
      throw new TrawlerError("TRAWLER_UNAVAILABLE", `cannot read ${path}: ${errorCode(error) ?? "failed"}`);
    }
  };
}
