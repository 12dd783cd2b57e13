import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { type CriClient, openCri } from "./client.ts";
import type { Version } from "./messages.ts";

/** Where container runtimes put their CRI socket by default, commonest first. */
export const RUNTIME_SOCKETS: readonly string[] = [
  "/run/containerd/containerd.sock",
  "/run/k3s/containerd/containerd.sock",
  "/run/k0s/containerd.sock",
  "/var/snap/microk8s/common/run/containerd.sock",
  "/run/crio/crio.sock",
  "/run/cri-dockerd.sock",
];

export interface SocketOptions {
  /** Named by the user: nothing else is tried. */
  readonly sockets?: readonly string[];
  /** `CONTAINER_RUNTIME_ENDPOINT` of the environment. */
  readonly endpoint?: string | undefined;
  /** Folder of the node's root as this process sees it; default `/`. */
  readonly root?: string;
}

/** The paths to try, in order. */
export function candidateSockets(options: SocketOptions): readonly string[] {
  const named = options.sockets ?? [];
  const first = named.length > 0 ? named : options.endpoint ? [options.endpoint] : [];
  const paths = (first.length > 0 ? first : RUNTIME_SOCKETS).map((socket) => socket.replace(/^unix:(\/\/)?/, ""));
  const root = (options.root ?? "/").replace(/\/+$/, "");
  return [...new Set(root === "" ? paths : paths.flatMap((path) => [`${root}${path}`, path]))];
}

export interface ProbeOptions {
  readonly signal: AbortSignal;
  /** Milliseconds for each socket; default 2,000. */
  readonly timeout?: number;
  readonly open?: (socket: string) => Promise<CriClient>;
}

/**
 * Opens the first socket whose runtime answers. Throws TRAWLER_DENIED where one is there and may not be opened, else
 * TRAWLER_UNAVAILABLE; the message says what each answered.
 */
export async function probeRuntime(
  sockets: readonly string[],
  options: ProbeOptions,
): Promise<{ readonly client: CriClient; readonly version: Version }> {
  const { signal, timeout = 2_000, open = openCri } = options;
  const answers: string[] = [];
  let denied = false;
  for (const socket of sockets) {
    signal.throwIfAborted();
    const client = await open(socket);
    try {
      return { client, version: await client.version({ signal, timeout }) };
    } catch (error) {
      client[Symbol.dispose]();
      signal.throwIfAborted();
      denied ||= errorCode(error) === "TRAWLER_DENIED";
      answers.push(/\bENOENT\b/.test(errorMessage(error)) ? `${socket}: absent` : errorMessage(error));
    }
  }
  const message = `no container runtime answers: ${answers.join("; ").slice(0, 2_000)}`;
  throw new TrawlerError(denied ? "TRAWLER_DENIED" : "TRAWLER_UNAVAILABLE", message);
}
