import type { Container, SocketStatus, Workload } from "@trawler/plugin-api";

/** Where a server may be asked: a port of the member's network namespace, or a socket file. */
export type Endpoint = { readonly port: number } | { readonly unix: string };

export interface Sighting {
  readonly commands: readonly { readonly pid: number; readonly command: string }[];
  readonly sockets: readonly SocketStatus[];
  /** As `ProcessAccess.sockets` says it: false = every `pid` is null. */
  readonly attributed: boolean;
  readonly workload: Workload;
  readonly container: Container | null;
  /** From an annotation; null without one. */
  readonly port: number | null;
}

/** `comm` of servers that speak the protocol. */
export const SERVERS: readonly string[] = [
  "redis-server",
  "redis-sentinel",
  "valkey-server",
  "valkey-sentinel",
  "keydb-server",
  "dragonfly",
];

const DEFAULT_PORT = 6379;
/** A cluster node's bus listens this much above its port and speaks another protocol. */
const CLUSTER_BUS_OFFSET = 10_000;
const MAX_ENDPOINTS = 8;

export interface Endpoints {
  readonly endpoints: readonly Endpoint[];
  /** A server's process runs here, and it is known to listen nowhere (or not on the declared port). */
  readonly deaf: boolean;
}

/**
 * Chooses the endpoints that belong to this member: containers of a pod share one network namespace, so a port counts
 * only where a process of this member holds it. Where sockets cannot be attributed, the declared or default port is
 * taken if it is listened on and nothing else in the pod can be meant.
 */
export function findEndpoints(sighting: Sighting): Endpoints {
  const servers = new Set(sighting.commands.filter(({ command }) => SERVERS.includes(command)).map(({ pid }) => pid));
  const running = servers.size > 0;
  const listening = sighting.sockets.filter(({ state }) => state === "LISTEN");
  const chosen = sighting.attributed ? attributed(listening, servers, sighting) : guessed(listening, running, sighting);
  const deaf = sighting.attributed && running && chosen.length === 0;
  return { endpoints: chosen.slice(0, MAX_ENDPOINTS), deaf };
}

function attributed(listening: readonly SocketStatus[], servers: ReadonlySet<number>, { port }: Sighting): Endpoint[] {
  const own = listening.filter(({ pid }) => pid !== null);
  const held = own.filter(({ pid }) => pid !== null && servers.has(pid));
  if (port !== null) return ports(own).includes(port) ? [{ port }] : [];
  // A server under another name is still found on the usual port.
  if (servers.size === 0) return ports(own).includes(DEFAULT_PORT) ? [{ port: DEFAULT_PORT }] : [];
  const tcp = ports(held).filter(
    (candidate) => !held.some((bus) => isTcp(bus) && bus.localPort === candidate - CLUSTER_BUS_OFFSET),
  );
  if (tcp.length > 0) return tcp.map((candidate) => ({ port: candidate }));
  return held
    .filter(({ protocol, localAddress }) => protocol === "unix" && localAddress.startsWith("/"))
    .map(({ localAddress }) => ({ unix: localAddress }))
    .sort((a, b) => (a.unix < b.unix ? -1 : 1));
}

function guessed(listening: readonly SocketStatus[], running: boolean, sighting: Sighting): Endpoint[] {
  const { workload, container } = sighting;
  if (workload.sandbox?.hostNetwork === true || workload.status?.hostNetwork === true) return [];
  if (!running && sighting.port === null && container !== null && workload.containers.length > 1) return [];
  const port = sighting.port ?? DEFAULT_PORT;
  return ports(listening).includes(port) ? [{ port }] : [];
}

const isTcp = ({ protocol }: SocketStatus): boolean => protocol === "tcp" || protocol === "tcp6";

function ports(sockets: readonly SocketStatus[]): number[] {
  return [...new Set(sockets.filter(isTcp).map(({ localPort }) => localPort))].sort((a, b) => a - b);
}
