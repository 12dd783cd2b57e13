import type { StringMap } from "@trawler/plugin-api";

/**
 * How it is known that an object has gone. `watch`: the server said so. `relist`: absent from a later complete list.
 * `replaced`: its name has another UID. `node`: its node saw it end, or is gone itself. `event`: only Events tell of it.
 */
export type EndEvidence = "watch" | "relist" | "replaced" | "node" | "event";

/** `exact`: the object as it was deleted. `last`: as it was last seen. `unknown`: never seen through the API. */
export type FinalState = "exact" | "last" | "unknown";

/** The end of an object. Times are our wall clock in milliseconds, never computed from `deletionTimestamp`. */
export interface End {
  readonly observedAt: number;
  readonly evidence: EndEvidence;
  readonly finalState: FinalState;
  /** It was alive then, and gone then; equal where the server told us itself. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** One run of one container. A restart makes another. */
export interface ContainerInstance {
  readonly container: string;
  readonly type: "app" | "init" | "sidecar" | "ephemeral";
  /** The runtime's id without scheme; null before there is one. */
  readonly id: string | null;
  readonly image: string;
  readonly digest: string | null;
  /** Restarts before this run. */
  readonly restarts: number;
  readonly status: "waiting" | "running" | "terminated" | "unknown";
  readonly reason: string | null;
  readonly exitCode: number | null;
  /** RFC 3339, by the node's clock, or null. */
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export interface RecordOwner {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** What a pod used in all, by the final frame of its node's agent; null where that does not tell. */
export interface Used {
  /** RFC 3339, by the node's clock: when it was measured. */
  readonly at: string;
  readonly cpuSeconds: number | null;
  /** Its peak where the kernel keeps one, else what it was last. Bytes. */
  readonly memoryBytes: number | null;
}

/** What of an object can be asked for. */
export interface InventoryRecord {
  readonly cluster: string;
  readonly kind: string;
  readonly uid: string;
  /** The epoch in which this record began: with cluster, kind and uid its key. */
  readonly epoch: number;
  readonly namespace: string | null;
  readonly name: string;
  /** The node that it was bound to; for a Node its own name. */
  readonly node: string | null;
  /** The controller, then its controller, as far as known: `ReplicaSet`, `Deployment`. */
  readonly owners: readonly RecordOwner[];
  readonly resourceVersion: string | null;
  readonly generation: number | null;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** Phase of a pod, else null. */
  readonly phase: string | null;
  readonly reason: string | null;
  readonly qosClass: string | null;
  readonly serviceAccount: string | null;
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
  /** CPU in cores, memory in bytes, by container; null = none set. */
  readonly resources: Readonly<Record<string, RecordResources>>;
  /** The latest run of each container. */
  readonly containers: readonly ContainerInstance[];
  /** The first exit code that is not 0, else 0 where all that ended ended well, else null. */
  readonly exitCode: number | null;
  /** The server's times, RFC 3339. `deletionTimestamp` includes the grace: it is no time of deletion. */
  readonly createdAt: string | null;
  readonly deletionTimestamp: string | null;
  readonly deletionGraceSeconds: number | null;
  /** Our wall clock, milliseconds. */
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  /** Null while it exists. */
  readonly end: End | null;
  /** Null where no final frame came. */
  readonly used: Used | null;
  /** Events that were applied to it. */
  readonly updates: number;
  /** Gap ids that its time meets: something of it may be missing. */
  readonly gaps: readonly number[];
  /** Labels or annotations were cut, or the object was too large to keep. */
  readonly truncated: boolean;
  /** SHA-256 of the kept payload, hexadecimal; null where there is none. */
  readonly payload: string | null;
}

export interface RecordResources {
  readonly cpuRequest: number | null;
  readonly cpuLimit: number | null;
  readonly memoryRequest: number | null;
  readonly memoryLimit: number | null;
}

/** A change of what matters: phase, node, addresses, a container's state. */
export interface Transition {
  /** Our wall clock, milliseconds. */
  readonly at: number;
  readonly resourceVersion: string | null;
  readonly what: string;
}

/** All that is kept of one object. */
export interface RecordDetail extends InventoryRecord {
  /** Oldest first; bounded, the first and the latest are kept. */
  readonly transitions: readonly Transition[];
  /** Every run that was seen, oldest first; bounded. */
  readonly instances: readonly ContainerInstance[];
  /** The object as last seen, without managed fields and without literal values of environment variables. */
  readonly object: Readonly<Record<string, unknown>> | null;
  /** The final frame of its node's agent; null where none came. */
  readonly figures: Readonly<Record<string, unknown>> | null;
}
