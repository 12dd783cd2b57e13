import type { StringMap } from "@trawler/plugin-api";

/** An answer of the engine, of which any part may be missing, null or of another type. */
export type Json = Readonly<Record<string, unknown>>;

export function record(value: unknown): Json {
  return isRecord(value) ? value : {};
}

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text that says something, or null. */
export function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A map of foreign keys: no prototype, texts only, sorted, so that the same map always reads the same. */
export function stringMap(value: unknown): StringMap {
  const map: Record<string, string> = Object.create(null);
  for (const [key, one] of Object.entries(record(value)).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (typeof one === "string") map[key] = one;
  }
  return map;
}

/** RFC 3339 with milliseconds; the engine's zero date, and what is no date, are null. */
export function time(value: unknown): string | null {
  const date = typeof value === "string" ? new Date(value) : null;
  if (date === null || Number.isNaN(date.getTime()) || date.getUTCFullYear() <= 1) return null;
  return date.toISOString();
}
