import type { Container, SocketStatus, Workload } from "@trawler/plugin-api";

export interface Sighting {
  readonly commands: readonly { readonly pid: number; readonly command: string }[];
  readonly sockets: readonly SocketStatus[];
  /** As `ProcessAccess.sockets` says it: false = every `pid` is null. */
  readonly attributed: boolean;
  readonly workload: Workload;
  readonly container: Container | null;
  /** From an annotation or the settings; null without one. */
  readonly port: number | null;
}

export const SERVERS: readonly string[] = ["nginx", "openresty", "angie"];

/** Ports that speak TLS by custom: asking them in plain text only fills the error log. */
const TLS_PORTS: ReadonlySet<number> = new Set([443, 8443]);
const DEFAULT_PORTS: readonly number[] = [80, 8080];
const MAX_PORTS = 8;

/**
 * Ports that belong to this member's nginx: containers of a pod share one network namespace, so a port counts only
 * where an nginx process of this member holds it. Where sockets cannot be attributed, the declared port or 80 and 8080
 * are taken, if nothing else in the pod can be meant.
 */
export function findPorts(sighting: Sighting): readonly number[] {
  const { port, attributed } = sighting;
  const servers = new Set(sighting.commands.filter(({ command }) => SERVERS.includes(command)).map(({ pid }) => pid));
  const listening = sighting.sockets.filter(
    ({ state, protocol }) => state === "LISTEN" && (protocol === "tcp" || protocol === "tcp6"),
  );
  if (!attributed) return guess(ports(listening), servers.size > 0, sighting);
  const own = listening.filter(({ pid }) => pid !== null);
  if (port !== null) return ports(own).filter((candidate) => candidate === port);
  const held = own.filter(({ pid }) => pid !== null && servers.has(pid));
  return ports(held)
    .filter((candidate) => !TLS_PORTS.has(candidate))
    .slice(0, MAX_PORTS);
}

function guess(
  listening: readonly number[],
  running: boolean,
  { workload, container, port }: Sighting,
): readonly number[] {
  if (workload.sandbox?.hostNetwork === true || workload.status?.hostNetwork === true) return [];
  if (port !== null) return listening.filter((candidate) => candidate === port);
  if (!running || (container !== null && workload.containers.length > 1)) return [];
  return listening.filter((candidate) => DEFAULT_PORTS.includes(candidate));
}

function ports(sockets: readonly SocketStatus[]): readonly number[] {
  return [...new Set(sockets.map(({ localPort }) => localPort))].sort((a, b) => a - b);
}
