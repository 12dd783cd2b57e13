/**
 * CPUs in use since the previous reading: Δ CPU time / Δ monotonic clock. Null on the first reading, when the counter
 * went back (the cgroup was made anew) and when no time has passed. Keeps `time` and `monotonic` in `state`.
 */
export function usage(
  figures: { readonly time: number | null; readonly monotonic: number },
  state: Map<string, number>,
): number | null {
  const time = state.get("time");
  const monotonic = state.get("monotonic");
  if (figures.time === null) {
    state.clear();
    return null;
  }
  state.set("time", figures.time);
  state.set("monotonic", figures.monotonic);
  if (time === undefined || monotonic === undefined) return null;
  const elapsed = figures.monotonic - monotonic;
  const used = figures.time - time;
  return elapsed > 0 && used >= 0 ? used / elapsed : null;
}
