/** What is common to all that a reader appends. */
interface Received {
  /** Name of the stream that it came on, such as `pods`: one list-and-watch, with a position of its own. */
  readonly stream: string;
  /** Our wall clock in milliseconds when it arrived. Never compared with a server's times. */
  readonly receivedAt: number;
  /** How often the server's versions went back before this (a restored etcd); from 0. A higher one outranks any version. */
  readonly epoch: number;
}

/** An object as the server sent it. `listed`: an item of a list. `refreshed`: read on request, no position follows. */
export interface ObjectEvent extends Received {
  readonly type: "added" | "modified" | "deleted" | "listed" | "refreshed";
  /** Such as `Pod`. */
  readonly kind: string;
  readonly uid: string;
  /** Of the object; for `deleted` that of the deletion. Decimal of any size; null where the server gave none. */
  readonly resourceVersion: string | null;
  /** The object's JSON in UTF-8, as it came; where it was too large to keep (`truncated`), its identity or nothing. */
  readonly payload: Uint8Array;
  readonly truncated?: boolean;
}

/** What stays of a state between an object's first and its last one that a full queue has dropped. */
export interface MergedEvent extends Received {
  readonly type: "merged";
  readonly kind: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** An object that was known, and is absent from a later complete list. */
export interface AbsentEvent extends Received {
  readonly type: "absent";
  readonly kind: string;
  readonly uid: string;
  /** Version of the list that lacks it. */
  readonly resourceVersion: string | null;
  /** Our wall clock, milliseconds: it was alive then, and gone then. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** The stream's position, where no object carries it: a bookmark, or the end of a complete list (`synced`). */
export interface PositionEvent extends Received {
  readonly type: "bookmark" | "synced";
  readonly resourceVersion: string;
  /** Our wall clock, milliseconds: nothing that happened before was missed. */
  readonly asOf: number;
}

/** `expired` 410 · `idle` mute watch · `restart` first list after a start · `restore` versions went back · `overflow`. */
export type GapReason = "expired" | "idle" | "restart" | "restore" | "overflow";

/** A time of which the stream does not know everything. Appended when it is over. */
export interface GapEvent extends Received {
  readonly type: "gap";
  readonly kind: string;
  readonly reason: GapReason;
  /** Our wall clock, milliseconds: nothing before `from` was missed, and the list that ended it. */
  readonly from: number;
  readonly to: number;
  readonly fromVersion: string | null;
  readonly toVersion: string | null;
  /** One line for people. */
  readonly note: string;
}

/** The last figures of a pod: the JSON of its final frame (`trawler.frame/1`, reason `ended`). */
export interface FiguresEvent extends Received {
  readonly type: "figures";
  readonly uid: string;
  readonly payload: Uint8Array;
}

/** A pod that the cluster's Events tell of, found after a gap. It counts only where nothing else is known of it. */
export interface EvidenceEvent extends Received {
  readonly type: "evidence";
  readonly kind: "Pod";
  readonly uid: string;
  readonly namespace: string | null;
  readonly name: string;
  readonly node: string | null;
  /** Of its Events, such as `Scheduled`, `Killing`. */
  readonly reasons: readonly string[];
  /** It lived between them. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** What was found for the last gap of the stream. */
export interface SearchedEvent extends Received {
  readonly type: "searched";
  /** One line for people. */
  readonly note: string;
}

/** What a reader appends to the durable queue, in the order in which it arrived. */
export type InventoryEvent =
  | ObjectEvent
  | MergedEvent
  | AbsentEvent
  | PositionEvent
  | GapEvent
  | FiguresEvent
  | EvidenceEvent
  | SearchedEvent;

/** An event with its place in the queue. */
export interface QueuedEvent {
  /** Counts from 1 without holes; never used twice, not even after a trim. */
  readonly sequence: number;
  readonly event: InventoryEvent;
}
