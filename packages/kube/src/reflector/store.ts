import type { ObjectMeta } from "./event.ts";
import type { Evidence, ReflectorHandler } from "./types.ts";
import { compareVersions } from "./version.ts";

/** How many UIDs of deleted objects are remembered, so that a late event does not bring one back. */
const TOMBSTONES = 4096;

export interface Entry<T> {
  readonly version: string | null;
  readonly value: T;
}

type Applied = "added" | "updated" | "same" | "stale";

/** Objects by UID: what is known, what was removed, and what each event makes of it. */
export interface Store<T> {
  readonly entries: ReadonlyMap<string, Entry<T>>;
  put(meta: ObjectMeta, value: T, observedAt: number): Applied;
  /** False where it was not known, or known to be newer. */
  remove(meta: ObjectMeta, final: T | null, evidence: Evidence): boolean;
  /** Takes a complete list: removals first, then the rest in its order. Returns the count of stale items. */
  replace(list: ReadonlyMap<string, Entry<T>>, observedAt: number, evidence: Evidence, trusted: boolean): number;
}

export function createStore<T>(handler: ReflectorHandler<T>): Store<T> {
  const entries = new Map<string, Entry<T>>();
  const tombstones = new Map<string, string | null>();

  const bury = (uid: string, version: string | null): void => {
    entries.delete(uid);
    tombstones.delete(uid);
    tombstones.set(uid, version);
    const oldest = tombstones.size > TOMBSTONES ? tombstones.keys().next().value : undefined;
    if (oldest !== undefined) tombstones.delete(oldest);
  };

  const put = (uid: string, entry: Entry<T>, observedAt: number, trusted: boolean): Applied => {
    const known = entries.get(uid);
    if (known === undefined) {
      const grave = tombstones.get(uid);
      if (grave !== undefined && !trusted && compareVersions(entry.version, grave) !== 1) return "stale";
      tombstones.delete(uid);
      entries.set(uid, entry);
      handler.added(entry.value, observedAt);
      return "added";
    }
    const order = compareVersions(entry.version, known.version);
    if (order === 0) return "same";
    if (order === -1 && !trusted) return "stale";
    entries.set(uid, entry);
    handler.updated(entry.value, observedAt, known.value);
    return "updated";
  };

  return {
    entries,
    put: (meta, value, observedAt) => put(meta.uid, { version: meta.resourceVersion, value }, observedAt, false),
    remove: (meta, final, evidence) => {
      const known = entries.get(meta.uid);
      if (known === undefined || compareVersions(meta.resourceVersion, known.version) === -1) return false;
      bury(meta.uid, meta.resourceVersion);
      handler.removed(final ?? known.value, evidence);
      return true;
    },
    replace: (list, observedAt, evidence, trusted) => {
      for (const [uid, known] of entries) {
        if (list.has(uid)) continue;
        bury(uid, known.version);
        handler.removed(known.value, evidence);
      }
      let stale = 0;
      for (const [uid, entry] of list) if (put(uid, entry, observedAt, trusted) === "stale") stale += 1;
      return stale;
    },
  };
}
