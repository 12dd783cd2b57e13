import { closest, distance } from "fastest-levenshtein";

/** The known name nearest to a wrong one; null where none is near enough to be meant. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (known.length === 0 || name.length > 100) return null;
  const lower = name.toLowerCase();
  const near = closest(lower, [...known]);
  const steps = distance(lower, near.toLowerCase());
  return steps <= Math.max(1, Math.floor(Math.max(name.length, near.length) / 3)) ? near : null;
}
