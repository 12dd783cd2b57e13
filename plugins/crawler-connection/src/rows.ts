import type { Container, SocketStatus, Workload } from "@trawler/plugin-api";

export interface Row {
  /** `protocol:address:port` of a listening socket, with `-address:port` of the peer behind it for a connection. */
  readonly key: string;
  readonly listening: boolean;
  readonly socket: SocketStatus;
}

export interface Sockets {
  readonly sockets: readonly SocketStatus[];
  /** False where the holders are not readable: then every `pid` is null. */
  readonly attributed: boolean;
}

/**
 * The sockets that belong to this target, so that each stands once in a frame. Containers of a pod share a network
 * namespace: a container has those that its own processes hold, the pod the rest (all of them where the holders cannot
 * be read). A hostNetwork namespace is the node's: only what is held by a process of ours is reported.
 */
export function ownSockets(
  { sockets, attributed }: Sockets,
  workload: Workload,
  container: Container | null,
): readonly SocketStatus[] {
  if (workload.kind === "host") return sockets;
  const held = sockets.filter(({ pid }) => pid !== null);
  const shared = workload.sandbox?.hostNetwork === true || workload.status?.hostNetwork === true;
  if (container !== null) return held;
  if (workload.kind === "container" && (attributed || shared)) return held;
  if (shared) return [];
  return attributed ? sockets.filter(({ pid }) => pid === null) : sockets;
}

/**
 * Rows of listening sockets and of connections, each sorted by key and each key once: processes that share a port
 * (SO_REUSEPORT, or a socket inherited by workers) are one row. States without a holder (TIME_WAIT and the like) and
 * unnamed unix sockets are left out.
 */
export function rows(sockets: readonly SocketStatus[]): {
  readonly listening: readonly Row[];
  readonly peers: readonly Row[];
} {
  const found = new Map<string, Row>();
  for (const socket of sockets.map(plainAddresses)) {
    const row = rowOf(socket);
    if (row === null) continue;
    const known = found.get(row.key);
    if (known === undefined || lessPid(socket.pid, known.socket.pid)) found.set(row.key, row);
  }
  const sorted = [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  return {
    listening: sorted.filter(({ listening }) => listening),
    peers: sorted.filter(({ listening }) => !listening),
  };
}

/** By the names of ss(8). */
const HOLDERLESS: ReadonlySet<string> = new Set(["TIME-WAIT", "SYN-RECV", "UNCONN"]);

function rowOf(socket: SocketStatus): Row | null {
  const { protocol, localAddress, localPort, remoteAddress, remotePort, state } = socket;
  if (protocol === "unix") {
    if (state !== "LISTEN" || localAddress === "") return null;
    return { key: `unix:${localAddress}`, listening: true, socket };
  }
  const local = `${protocol}:${endpoint(localAddress, localPort)}`;
  const connected = remoteAddress !== null && remotePort !== null && remotePort !== 0;
  const udp = protocol === "udp" || protocol === "udp6";
  if (state === "LISTEN" || (udp && !connected)) return { key: local, listening: true, socket };
  if (!connected || HOLDERLESS.has(state)) return null;
  return { key: `${local}-${endpoint(remoteAddress, remotePort)}`, listening: false, socket };
}

const endpoint = (address: string, port: number): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const PLAIN = { tcp: "tcp", tcp6: "tcp", udp: "udp", udp6: "udp", unix: "unix" } as const;

/** An IPv4 address mapped into IPv6 is the IPv4 address: both tables may list the same socket. */
function plainAddresses(socket: SocketStatus): SocketStatus {
  const local = MAPPED.exec(socket.localAddress)?.[1];
  if (local === undefined) return socket;
  const remoteAddress = socket.remoteAddress === null ? null : socket.remoteAddress.replace(MAPPED, "$1");
  return { ...socket, protocol: PLAIN[socket.protocol], localAddress: local, remoteAddress };
}

function lessPid(one: number | null, other: number | null): boolean {
  return one !== null && (other === null || one < other);
}
