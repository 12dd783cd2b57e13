/** One reading of a process's CPU time. */
export interface Reading {
  /** `pid:startTicks`: a pid that is used again is another process. */
  readonly key: string;
  /** Seconds. */
  readonly time: number;
}

/**
 * CPUs in use per process since the previous crawl; a process has no entry on its first reading, when its counter went
 * back, or when no time has passed. `state` afterwards holds the given processes and the clock, nothing else.
 */
export function usages(
  readings: readonly Reading[],
  monotonic: number,
  state: Map<string, number>,
): ReadonlyMap<string, number> {
  const elapsed = monotonic - (state.get("monotonic") ?? monotonic);
  const found = new Map<string, number>();
  for (const { key, time } of readings) {
    const used = time - (state.get(key) ?? Number.NaN);
    if (elapsed > 0 && used >= 0) found.set(key, used / elapsed);
  }
  state.clear();
  state.set("monotonic", monotonic);
  for (const { key, time } of readings) state.set(key, time);
  return found;
}
