import type { PodRecord } from "../pods/record.ts";
import type { SeenRecord } from "./input.ts";
import { podKey } from "./join.ts";

/** Records of one source, found by what the runtime calls a pod. */
export interface PodIndex {
  put(record: PodRecord, observedAt: number): void;
  /** Keeps the final state until `forget`: what runs may outlive its record. */
  deleted(record: PodRecord, observedAt: number): void;
  forget(uid: string): void;
  /** By UID, or a static pod's mirror by its manifest's hash, namespace and name. */
  find(pod: { readonly uid: string; readonly namespace: string; readonly name: string }): SeenRecord | null;
  readonly size: number;
}

export function createPodIndex(): PodIndex {
  const byUid = new Map<string, SeenRecord>();
  const mirrors = new Map<string, string>();
  const mirrorKey = (key: string, pod: { readonly namespace: string; readonly name: string }): string =>
    `${key} ${pod.namespace}/${pod.name}`;

  const put = (record: PodRecord, observedAt: number, deleted: boolean): void => {
    byUid.set(record.uid, { record, observedAt: new Date(observedAt).toISOString(), ...(deleted ? { deleted } : {}) });
    const key = podKey(record);
    // A deleted mirror does not displace its successor.
    if (key === record.uid || (deleted && mirrors.has(mirrorKey(key, record)))) return;
    mirrors.set(mirrorKey(key, record), record.uid);
  };

  return {
    put: (record, observedAt) => put(record, observedAt, false),
    deleted: (record, observedAt) => put(record, observedAt, true),
    forget: (uid) => {
      const record = byUid.get(uid)?.record;
      byUid.delete(uid);
      if (record === undefined) return;
      const key = mirrorKey(podKey(record), record);
      if (mirrors.get(key) === uid) mirrors.delete(key);
    },
    find: (pod) => {
      const own = byUid.get(pod.uid);
      if (own !== undefined) return own;
      const mirror = mirrors.get(mirrorKey(pod.uid, pod));
      return mirror === undefined ? null : (byUid.get(mirror) ?? null);
    },
    get size() {
      return byUid.size;
    },
  };
}
