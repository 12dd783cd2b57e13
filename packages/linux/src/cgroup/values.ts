import { parseCount } from "../proc/number.ts";

/** v1 writes "no limit" as the largest multiple of the page size, or as 2^64 − 1; nothing real comes near. */
const NO_LIMIT = 2 ** 62;

/** A file of one count; null where it is missing or garbage. */
export function parseValue(text: string | null): number | null {
  return text === null ? null : parseCount(text.trim());
}

/** A file of one limit; null = none (`max`, −1, v1's huge number), or missing, or garbage. */
export function parseLimit(text: string | null): number | null {
  const value = parseValue(text);
  return value === null || value >= NO_LIMIT ? null : value;
}

/** Smallest of the limits that are known. */
export function smallest(limits: readonly (number | null)[]): number | null {
  const known = limits.filter((limit) => limit !== null);
  return known.length === 0 ? null : Math.min(...known);
}
