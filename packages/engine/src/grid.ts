import type { Clock } from "@trawler/plugin-api";
import { delay } from "./wait.ts";

/**
 * Calls `slot` on a planned grid until `signal` aborts: next = planned + every, so that no delay adds up. Slots that
 * have passed meanwhile are skipped and counted. The grid is shifted by the node's name, so that nodes do not all
 * send at once, and stays the same over a restart. `slot` must not wait.
 */
export async function runGrid(
  { clock, every, node }: { readonly clock: Clock; readonly every: number; readonly node: string },
  slot: () => void,
  skipped: (count: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const intoPeriod = ((clock.now() / 1000 - phaseOf(node) * every) % every) + every;
  let planned = clock.monotonic() + every - (intoPeriod % every);
  for (;;) {
    // A timer may be early by a part of a millisecond: a slot is never begun before its time.
    for (let left = planned - clock.monotonic(); left > 0 && !signal.aborted; left = planned - clock.monotonic()) {
      await delay(Math.ceil(left * 1000), signal);
    }
    if (signal.aborted) return;
    const missed = Math.floor((clock.monotonic() - planned) / every);
    if (missed > 0) skipped(missed);
    planned += missed * every;
    slot();
    planned += every;
  }
}

/** A fraction of a period from a name (FNV-1a). */
export function phaseOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
