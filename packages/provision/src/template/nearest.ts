/** The known name that a wrong one may mean; null where none is near. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (name.length > 100) return null;
  let best: string | null = null;
  let fewest = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known.slice(0, 1_000)) {
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const steps = distance(name.toLowerCase(), candidate.toLowerCase());
    if (steps < fewest) {
      fewest = steps;
      best = candidate;
    }
  }
  return best;
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const swap = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
