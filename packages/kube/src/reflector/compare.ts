import type { Entry } from "./store.ts";
import { compareVersions } from "./version.ts";

type Entries<T> = ReadonlyMap<string, Entry<T>>;

/** A list that takes away more than this many, and more than half, is read twice. */
const MASS_DELETION = 50;

export function isMassDeletion<T>(known: Entries<T>, list: ReadonlySet<string>): boolean {
  if (known.size <= MASS_DELETION || list.size > known.size / 2) return false;
  let gone = 0;
  for (const uid of known.keys()) if (!list.has(uid)) gone += 1;
  return gone > MASS_DELETION && gone > known.size / 2;
}

/** How many objects of a list are newer than what is known of them, though not newer than what the watch has told. */
export function driftOf<T>(known: Entries<T>, list: Entries<T>, told: string): number {
  let drift = 0;
  for (const [uid, { version }] of list) {
    if (compareVersions(version, told) === 1) continue;
    const entry = known.get(uid);
    if (entry === undefined || compareVersions(version, entry.version) === 1) drift += 1;
  }
  return drift;
}
