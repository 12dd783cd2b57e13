import { parseDuration } from "@trawler/plugin-api";

/** Longest time that asking one server may take by its settings, milliseconds. */
const LONGEST = 60_000;

/** Milliseconds of a setting such as `2s`, which its schema has checked; at most a minute. */
export function milliseconds(duration: string): number {
  return Math.min(parseDuration(duration) ?? LONGEST, LONGEST);
}
