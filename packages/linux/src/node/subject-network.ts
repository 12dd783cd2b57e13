import { type NetworkAccess, type ProcessAccess, type ReadOptions, TrawlerError } from "@trawler/plugin-api";
import type { ConnectMember, NamespaceConnector } from "../namespace/connector.ts";
import { readInterfaces } from "../network/interface-reader.ts";
import { findNodeNamespace } from "../network/node-namespace.ts";
import type { SocketTables } from "../network/socket-tables.ts";
import { orNull, type ProcFiles } from "../proc/files.ts";
import type { Belongs } from "../proc/process-reader.ts";
import { readProcessStat } from "../proc/process-reader.ts";

/** The network namespace that a subject and its members share. Asked anew at each call: sandboxes are made again. */
export interface SubjectNetwork {
  /** It is the node's own. */
  hostNetwork(): boolean;
  /** Processes that are in it, best first; looked for as they are asked for. */
  pids(): Iterable<number>;
  /** As `pids`, for who asks itself whether they belong to it. */
  candidates?(): Iterable<number>;
  readonly belongs: Belongs;
  readonly tables: SocketTables;
  /** Its own addresses, as far as they are known. */
  addresses(): readonly string[];
}

/** `net` of a subject or of a member, whose processes are `proc`. */
export function openNetwork(
  files: ProcFiles,
  network: SubjectNetwork,
  proc: ProcessAccess,
  connector: Pick<NamespaceConnector, "connect">,
): NetworkAccess {
  return {
    interfaces: async () =>
      readInterfaces(files, {
        pids: network.candidates?.() ?? network.pids(),
        belongs: network.belongs,
        hostNetwork: network.hostNetwork(),
      }),
    connect: async (target, options = {}) => {
      if ("port" in target && isNodeNetwork(files, network)) await checkHolder(proc, target.port, signalOf(options));
      // The namespace's first process may be the sandbox: a socket file is found in the root of who asks.
      const inFiles = "unix" in target && target.unix.startsWith("/");
      const pids = inFiles ? (await proc.commands(signalOf(options))).map(({ pid }) => pid) : network.pids();
      return connector.connect(liveMember(files, network, pids), target, options);
    },
  };
}

/** Whether the namespace is the node's: the environment says so, or the namespace itself, as not every one knows. */
export function isNodeNetwork(files: ProcFiles, network: SubjectNetwork): boolean {
  if (network.hostNetwork()) return true;
  const node = findNodeNamespace(files);
  if (node === null) return false;
  for (const pid of network.pids()) {
    const link = orNull(() => files.link(`${pid}/ns/net`));
    if (link !== null) return link === node.link;
  }
  return false;
}

/** In the node's network a port may be anyone's: only one that a process of the subject listens on is its own. */
async function checkHolder(proc: ProcessAccess, port: number, options: ReadOptions): Promise<void> {
  const { sockets, attributed } = await proc.sockets(options);
  if (!attributed) {
    throw new TrawlerError("TRAWLER_DENIED", `port ${port} of the node: whose it is takes CAP_SYS_PTRACE to tell`);
  }
  if (sockets.some(({ localPort, pid, protocol }) => localPort === port && pid !== null && protocol !== "unix")) return;
  throw new TrawlerError("TRAWLER_UNAVAILABLE", `port ${port}: no process of this container listens on it`);
}

function signalOf({ signal }: ReadOptions): ReadOptions {
  return signal === undefined ? {} : { signal };
}

function liveMember(files: ProcFiles, network: SubjectNetwork, pids: Iterable<number>): ConnectMember {
  for (const pid of pids) {
    const stat = readProcessStat(files, pid);
    if (stat === null) continue;
    return { pid, startTicks: stat.startTicks, procRoot: files.root, addresses: network.addresses() };
  }
  throw new TrawlerError("TRAWLER_GONE", "none of its processes runs any more");
}
