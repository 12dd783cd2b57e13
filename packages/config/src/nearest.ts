import { closest, distance } from "fastest-levenshtein";

/** The known name nearest to a wrong one; null where none is near enough to be meant. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (known.length === 0 || name.length > 100) return null;
  const lower = name.toLowerCase();
  const near = closest(lower, [...known]);
  const steps = distance(lower, near.toLowerCase());
  // Two letters that changed places are two steps.
  const few = name.length < 4 ? 1 : Math.max(2, Math.floor(Math.max(name.length, near.length) / 3));
  return steps <= few ? near : null;
}
