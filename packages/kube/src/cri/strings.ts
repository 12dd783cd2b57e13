import type { StringMap } from "@trawler/plugin-api";

/** Longest key or value that is kept, in UTF-16 units; more is cut. */
const MAX_TEXT = 16 * 1024;
const MAX_KEYS = 1000;

/** The configuration of a whole pod once more: never worth its memory. */
const DROPPED: ReadonlySet<string> = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);

/** Copies a map of foreign keys into one without a prototype, capped; so that `__proto__` is a key like any other. */
export function stringMap(source: Readonly<Record<string, unknown>> | null | undefined): StringMap {
  const map: Record<string, string> = Object.create(null);
  let left = MAX_KEYS;
  for (const [key, value] of Object.entries(source ?? {})) {
    if (typeof value !== "string" || DROPPED.has(key)) continue;
    if (left-- === 0) break;
    map[key.slice(0, MAX_TEXT)] = value.slice(0, MAX_TEXT);
  }
  return map;
}
