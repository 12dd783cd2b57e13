import type { Container, SocketStatus, Workload } from "@trawler/plugin-api";

/** Where a server may be asked: a port of the member's network namespace, or a socket file. */
export type Endpoint =
  /** `host`: the one address that it listens on; absent = all of them. */
  { readonly port: number; readonly host?: string } | { readonly unix: string };

export interface Sighting {
  readonly commands: readonly { readonly pid: number; readonly command: string }[];
  readonly sockets: readonly SocketStatus[];
  /** As `ProcessAccess.sockets` says it: false = every `pid` is null. */
  readonly attributed: boolean;
  readonly workload: Workload;
  readonly container: Container | null;
  /** From an annotation or the settings; null without one. */
  readonly port: number | null;
  /** The pod itself says that a server is here. */
  readonly expected: boolean;
  readonly server: Server;
}

/** How a kind of server is told from what else listens. */
export interface Server {
  /** `comm` of its processes, exactly. */
  readonly processes: readonly string[];
  /** A word of their command line that tells them from others of that name: `java` runs anything. */
  readonly argument?: string;
  /** Where it listens by custom, the likeliest first. */
  readonly ports: readonly number[];
  /** Ports of its processes that speak another protocol, by all that they listen on. */
  readonly foreign?: (port: number, held: readonly number[]) => boolean;
}

const MAX_ENDPOINTS = 8;

export interface Endpoints {
  readonly endpoints: readonly Endpoint[];
  /** Why a server that should be here cannot be asked; null where none should be, or that is not known. */
  readonly deaf: string | null;
}

/**
 * Chooses the endpoints that belong to this member: containers of a pod share one network namespace, so a port counts
 * only where a process of this member holds it. Where sockets cannot be attributed, the declared or default port is
 * taken if it is listened on and nothing else in the pod can be meant.
 */
export function findEndpoints(sighting: Sighting): Endpoints {
  const { processes } = sighting.server;
  const servers = new Set(sighting.commands.filter(({ command }) => processes.includes(command)).map(({ pid }) => pid));
  const running = servers.size > 0;
  const listening = sighting.sockets.filter(({ state }) => state === "LISTEN");
  const chosen = sighting.attributed ? attributed(listening, servers, sighting) : guessed(listening, running, sighting);
  const missed = sighting.attributed && chosen.length === 0 && (running || sighting.expected);
  return { endpoints: chosen.slice(0, MAX_ENDPOINTS), deaf: missed ? missing(running, sighting.port) : null };
}

function missing(running: boolean, port: number | null): string {
  const where = port === null ? "" : ` on port ${port}`;
  return running ? `its process runs but does not listen${where}` : `no process of this container listens${where}`;
}

function attributed(listening: readonly SocketStatus[], servers: ReadonlySet<number>, sighting: Sighting): Endpoint[] {
  const { port, server } = sighting;
  const own = listening.filter(({ pid }) => pid !== null);
  if (port !== null) return ports(own).includes(port) ? [endpointOf(port, own)] : [];
  // A server under another name is still found on its usual port.
  if (servers.size === 0) return usual(ports(own), server).map((candidate) => endpointOf(candidate, own));
  const held = own.filter(({ pid }) => pid !== null && servers.has(pid));
  const all = ports(held);
  const tcp = all.filter((candidate) => server.foreign?.(candidate, all) !== true);
  if (tcp.length > 0) return tcp.map((candidate) => endpointOf(candidate, held));
  return held
    .filter(({ protocol, localAddress }) => protocol === "unix" && localAddress.startsWith("/"))
    .map(({ localAddress }) => ({ unix: localAddress }))
    .sort((a, b) => (a.unix < b.unix ? -1 : 1));
}

function usual(listening: readonly number[], server: Server): readonly number[] {
  const found = server.ports.find((port) => listening.includes(port));
  return found === undefined ? [] : [found];
}

function guessed(listening: readonly SocketStatus[], running: boolean, sighting: Sighting): Endpoint[] {
  const { workload, container } = sighting;
  if (workload.sandbox?.hostNetwork === true || workload.status?.hostNetwork === true) return [];
  if (!running && sighting.port === null && container !== null && workload.containers.length > 1) return [];
  const known = ports(listening);
  if (sighting.port !== null) return known.includes(sighting.port) ? [{ port: sighting.port }] : [];
  return usual(known, sighting.server).map((port) => ({ port }));
}

/** Another container of the pod may listen on the same port of another address: then only the address tells them apart. */
export function endpointOf(
  port: number,
  sockets: readonly SocketStatus[],
): { readonly port: number; readonly host?: string } {
  const addresses = sockets.filter((one) => isTcp(one) && one.localPort === port).map((one) => one.localAddress);
  if (addresses.some((address) => address === "0.0.0.0" || address === "::")) return { port };
  const host = addresses.find((address) => /^(127\.|::1$)/.test(address)) ?? addresses.sort()[0];
  return host === undefined ? { port } : { port, host };
}

const isTcp = ({ protocol }: SocketStatus): boolean => protocol === "tcp" || protocol === "tcp6";

function ports(sockets: readonly SocketStatus[]): number[] {
  return [...new Set(sockets.filter(isTcp).map(({ localPort }) => localPort))].sort((a, b) => a - b);
}

/** Tells endpoints of one member apart. */
export const keyOf = (endpoint: Endpoint): string => ("port" in endpoint ? String(endpoint.port) : endpoint.unix);
