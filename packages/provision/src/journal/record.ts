import type { ObjectError, ResourceType } from "../cluster/types.ts";

export type ItemStatus =
  /** Nothing was sent yet. */
  | "planned"
  /** A request may be under way. */
  | "creating"
  | "created"
  /** It was there before; by policy that is no failure. Never touched. */
  | "existing"
  | "failed"
  /** Not tried, since another one failed first. */
  | "skipped"
  /** The request had no answer, and the server could not be asked whether it has done it. */
  | "unknown"
  | "rolledBack"
  /** Another object has its name now: ours is gone, the other one is left alone. */
  | "replaced"
  /** Left where it is on purpose, such as a volume with data. */
  | "kept"
  | "rollbackFailed";

/** One object of a run. In the order of the template wherever there are several. */
export interface Item {
  readonly index: number;
  /** JSON pointer into the template; empty for a namespace that the run adds. */
  readonly path: string;
  readonly type: ResourceType;
  /** Defined by a CustomResourceDefinition of the same run. */
  readonly deferred: boolean;
  readonly namespace: string | null;
  /** Null until the server made one from `generateName`. */
  readonly name: string | null;
  readonly generateName: string | null;
  readonly wave: number;
  readonly status: ItemStatus;
  readonly uid: string | null;
  readonly resourceVersion: string | null;
  /** Not waited for, by OpenShift's own annotation, where false. Absent: waited for. */
  readonly awaited?: boolean;
  /** Null where readiness was not asked for. */
  readonly ready: boolean | null;
  /** Why it is not there, not ready, or not gone. */
  readonly error: ObjectError | null;
  /** Requests to create it. */
  readonly attempts: number;
  /** A request had no answer: it may still take effect. */
  readonly uncertain: boolean;
  /** ISO 8601. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

export type RunState =
  | "PENDING"
  | "CREATING"
  | "WAITING"
  | "ROLLING_BACK"
  | "SUCCEEDED"
  | "PARTIAL"
  | "FAILED"
  /** It had succeeded, and all of it was removed since. */
  | "RETIRED";

export type Until = "created" | "inventory" | "ready";
/** `deep`: as `auto`, and what controllers made of our objects goes too where it outlives them. */
export type RollbackPolicy = "auto" | "never" | "ask" | "deep";
export type RollbackResult = "notNeeded" | "notRequested" | "complete" | "incomplete";

/** What of a run may still be in the cluster. */
export interface Leftover {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
  readonly uid: string | null;
  readonly why: string;
  /** Removes it by hand. */
  readonly command: string;
}

/** What an object that failed looked like before anything was undone. Redacted. */
export interface Evidence {
  readonly index: number;
  readonly lines: readonly string[];
}

export interface RunSettings {
  readonly until: Until;
  /** Null: `auto` where creation fails, `never` where all is created and not ready. */
  readonly rollback: RollbackPolicy | null;
  /** Requests at a time, 1 to 64. */
  readonly parallel: number;
  /** Go on with other objects after one failed. */
  readonly keepGoing: boolean;
  /** Keep volume claims that were bound. */
  readonly keepData: boolean;
  /** Milliseconds. */
  readonly createTimeout: number;
  readonly readyTimeout: number;
  readonly rollbackTimeout: number;
}

/** A run without its objects. */
export interface Run {
  readonly instance: string;
  readonly template: string | null;
  readonly digest: string;
  readonly namespace: string | null;
  readonly server: string;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly state: RunState;
  readonly settings: RunSettings;
  /** The first failure, whatever came after it. */
  readonly headline: string | null;
  readonly rollback: RollbackResult;
  readonly ready: { readonly ready: number; readonly total: number; readonly timedOut: boolean } | null;
  readonly leftovers: readonly Leftover[];
  readonly evidence: readonly Evidence[];
  readonly warnings: readonly string[];
}

export interface Report extends Run {
  readonly objects: readonly Item[];
}

export function isOver(state: RunState): boolean {
  return state === "SUCCEEDED" || state === "PARTIAL" || state === "FAILED" || state === "RETIRED";
}
