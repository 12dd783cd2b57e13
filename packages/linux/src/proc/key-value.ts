import { parseCount } from "./number.ts";

/** Lines of `key value` or `key: value kB` as counts by name, in the file's own unit; lines of another form are left out. */
export function parseCounts(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [name, value] = line.trim().split(/:?\s+/, 2);
    const count = parseCount(value);
    if (name !== undefined && name !== "" && count !== null) counts.set(name, count);
  }
  return counts;
}
