import type { ContainerInstance, InventoryRecord, Transition } from "../record.ts";

/** What is kept of an object between its events: the record without what the store adds on reading. */
export interface RecordState extends Omit<InventoryRecord, "cluster" | "gaps" | "payload"> {
  /** The epoch of `resourceVersion`; the record itself may be older. */
  readonly versionEpoch: number;
  /** Version at which it was gone: of the deletion, or of the list that lacks it. */
  readonly endVersion: string | null;
  readonly transitions: readonly Transition[];
  readonly instances: readonly ContainerInstance[];
}

/** What one object says of itself, cut down to what a record keeps. */
export interface Facts
  extends Pick<
    RecordState,
    | "namespace"
    | "name"
    | "node"
    | "owners"
    | "generation"
    | "labels"
    | "annotations"
    | "phase"
    | "reason"
    | "qosClass"
    | "serviceAccount"
    | "podIps"
    | "hostIps"
    | "resources"
    | "containers"
    | "exitCode"
    | "createdAt"
    | "deletionTimestamp"
    | "deletionGraceSeconds"
    | "truncated"
  > {
  /** Runs before the present ones, as `lastState` tells. */
  readonly earlier: readonly ContainerInstance[];
}

/** Bounds of what one record keeps of its past: the first ones and the latest ones stay. */
const PAST = { first: 16, latest: 112 } as const;

/** Appends within the bounds. */
export function appendBounded<T>(list: readonly T[], item: T): readonly T[] {
  if (list.length < PAST.first + PAST.latest) return [...list, item];
  return [...list.slice(0, PAST.first), ...list.slice(PAST.first + 1), item];
}
