import type { ObjectMeta } from "./event.ts";
import type { Evidence, Origin, ReflectorHandler } from "./types.ts";
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
  /** Takes an item of a list before the list is complete. */
  item(uid: string, entry: Entry<T>, observedAt: number, trusted: boolean): Applied;
  /** Takes over what an earlier run knew, without a report. */
  recall(uid: string, entry: Entry<T>): void;
  /** False where it was not known, or known to be newer. */
  remove(meta: ObjectMeta, final: T | null, evidence: Evidence): boolean;
  /** Reports and forgets what a complete list lacks. */
  removeAbsent(present: { has(uid: string): boolean }, evidence: Evidence): void;
  /** Takes a complete list: removals first, then the rest in its order. Returns the count of stale items. */
  replace(list: ReadonlyMap<string, Entry<T>>, observedAt: number, evidence: Evidence, trusted: boolean): number;
}

export function createStore<T>(handler: Required<ReflectorHandler<T>>, reportUnseen: boolean): Store<T> {
  const entries = new Map<string, Entry<T>>();
  const tombstones = new Map<string, string | null>();

  const bury = (uid: string, version: string | null): void => {
    entries.delete(uid);
    tombstones.delete(uid);
    tombstones.set(uid, version);
    const oldest = tombstones.size > TOMBSTONES ? tombstones.keys().next().value : undefined;
    if (oldest !== undefined) tombstones.delete(oldest);
  };

  const put = (uid: string, entry: Entry<T>, observedAt: number, trusted: boolean, origin: Origin): Applied => {
    const known = entries.get(uid);
    if (known === undefined) {
      const grave = tombstones.get(uid);
      if (grave !== undefined && !trusted && compareVersions(entry.version, grave) !== 1) return "stale";
      tombstones.delete(uid);
      entries.set(uid, entry);
      handler.added(entry.value, observedAt, origin);
      return "added";
    }
    const order = compareVersions(entry.version, known.version);
    if (order === 0) return "same";
    if (order === -1 && !trusted) return "stale";
    entries.set(uid, entry);
    handler.updated(entry.value, observedAt, known.value, origin);
    return "updated";
  };

  const removeAbsent = (present: { has(uid: string): boolean }, evidence: Evidence): void => {
    for (const [uid, known] of entries) {
      if (present.has(uid)) continue;
      bury(uid, known.version);
      handler.removed(known.value, evidence);
    }
  };

  return {
    entries,
    put: (meta, value, observedAt) =>
      put(meta.uid, { version: meta.resourceVersion, value }, observedAt, false, "watch"),
    item: (uid, entry, observedAt, trusted) => put(uid, entry, observedAt, trusted, "list"),
    recall: (uid, entry) => void entries.set(uid, entry),
    removeAbsent,
    remove: (meta, final, evidence) => {
      const known = entries.get(meta.uid);
      if (known === undefined && reportUnseen && final !== null && !tombstones.has(meta.uid)) {
        bury(meta.uid, meta.resourceVersion);
        handler.removedUnseen(final, evidence);
        return true;
      }
      if (known === undefined || compareVersions(meta.resourceVersion, known.version) === -1) return false;
      bury(meta.uid, meta.resourceVersion);
      handler.removed(final ?? known.value, evidence);
      return true;
    },
    replace: (list, observedAt, evidence, trusted) => {
      removeAbsent(list, evidence);
      let stale = 0;
      for (const [uid, entry] of list) if (put(uid, entry, observedAt, trusted, "list") === "stale") stale += 1;
      return stale;
    },
  };
}
