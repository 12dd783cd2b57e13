/**
 * Orders two resource versions of one resource type: decimal numbers of any size, compared by length and then by
 * characters, never as numbers (they pass 2^53). Null where either is no such number and nothing can be said.
 */
export function compareVersions(a: string | null, b: string | null): number | null {
  if (a === null || b === null || !DECIMAL.test(a) || !DECIMAL.test(b)) return null;
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

const DECIMAL = /^(0|[1-9]\d{0,38})$/;

/** The later of two versions; the second where they cannot be compared. */
export function laterVersion(a: string | null, b: string): string {
  return compareVersions(a, b) === 1 && a !== null ? a : b;
}
