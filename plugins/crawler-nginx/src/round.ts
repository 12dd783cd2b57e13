import type { NetworkAccess } from "@trawler/plugin-api";
import { look } from "./look.ts";
import { Memory, type Place } from "./memory.ts";
import { FAILURES, type Failure, type Found } from "./outcome.ts";

export interface Search {
  /** At least one. */
  readonly ports: readonly number[];
  readonly paths: readonly string[];
  /** Milliseconds for one request. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly monotonic: number;
  readonly state: Map<string, number>;
}

type Net = Pick<NetworkAccess, "connect">;

/**
 * Reads the status page where it was found before: one request. Looks for it on all ports and paths at most once in
 * five minutes; between two rounds without success the last outcome stands.
 */
export async function search(net: Net, options: Search): Promise<Found | Failure | null> {
  const { ports, paths, monotonic } = options;
  const [port, path] = [ports[0], paths[0]];
  if (ports.length === 1 && paths.length === 1 && port !== undefined && path !== undefined)
    return look(net, { ...options, port, path });
  const memory = new Memory(options.state);
  const known = await lookAgain(net, memory.place, options);
  if (known?.state === "ok" || !memory.isDue(monotonic)) return known ?? memory.missed;
  const result = await round(net, options);
  if (result !== null)
    memory.endRound(monotonic, result.state === "ok" ? { port: result.port, path: result.path } : result);
  return result;
}

async function lookAgain(net: Net, place: Place | null, options: Search): Promise<Found | Failure | null> {
  if (place === null || !options.ports.includes(place.port) || !options.paths.includes(place.path)) return null;
  return look(net, { ...options, ...place });
}

async function round(net: Net, options: Search): Promise<Found | Failure | null> {
  let best: Failure | null = null;
  for (const port of options.ports) {
    for (const path of options.paths) {
      const result = await look(net, { ...options, port, path });
      if (result.state === "ok") return result;
      if (best === null || rank(result) > rank(best)) best = result;
      // The round is over; what it saw is remembered, so that it is not made again at once.
      if (options.signal.aborted) return best;
      // No path of this port will do better, and each would cost a deadline or a line in the error log.
      if (result.state === "down" || result.state === "tls_required") break;
    }
  }
  return best;
}

/** Within a state "not allowed" tells more than "not found". */
function rank({ state, reason }: Failure): number {
  return FAILURES.indexOf(state) * 2 + (reason.includes("404") ? 0 : 1);
}
