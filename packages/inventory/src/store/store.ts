import type { GapReason, QueuedEvent } from "../events.ts";
import type { InventoryRecord, RecordDetail } from "../record.ts";

/** Where a stream stands, as far as the store has committed it. */
export interface StreamPosition {
  readonly stream: string;
  readonly resourceVersion: string;
  readonly epoch: number;
  /** Our wall clock, milliseconds: nothing that happened before was missed. The position may be later than that. */
  readonly asOf: number;
}

export interface Gap {
  readonly id: number;
  readonly stream: string;
  readonly kind: string;
  readonly reason: GapReason;
  /** Our wall clock, milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly fromVersion: string | null;
  readonly toVersion: string | null;
  readonly note: string;
}

/** Which records; all that are given must hold. Times are our wall clock in milliseconds. */
export interface InventoryQuery {
  readonly kind?: string;
  /** Those that existed at some time between; `at` = both ends alike. Neither = those that exist now, or with `deleted` all that are gone. */
  readonly between?: readonly [number, number];
  readonly node?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Gone ones only (true), or live ones only (false). */
  readonly deleted?: boolean;
  /** Any owner in the chain. */
  readonly owner?: { readonly kind: string; readonly name: string };
  /** Default 1,000. */
  readonly limit?: number;
  /** The `next` of the previous answer. */
  readonly after?: number;
}

export interface QueryAnswer {
  readonly records: readonly InventoryRecord[];
  /** False where the asked time meets a gap: something may be missing. */
  readonly complete: boolean;
  readonly gaps: readonly Gap[];
  readonly next: number | null;
}

export interface StoreStatus {
  readonly cluster: string;
  /** Sequence in the queue up to which everything is applied. */
  readonly applied: number;
  readonly live: number;
  readonly deleted: number;
  readonly gaps: number;
  readonly staleIgnored: number;
  readonly quarantined: number;
  readonly positions: readonly StreamPosition[];
}

/** Keep records of gone objects for so long, and at most so many. */
export interface Retention {
  readonly days: number;
  readonly rows: number;
}

export interface Batch {
  /** Of the queue that the sequences belong to. */
  readonly queue: string;
  /** In the queue's order. Those up to the applied sequence are skipped. */
  readonly events: readonly QueuedEvent[];
  /** The writer's right to write; the store refuses one lower than the highest it has seen. */
  readonly token: number;
}

export interface Applied {
  readonly sequence: number;
  /** Events that changed a record. */
  readonly changed: number;
  readonly staleIgnored: number;
  readonly quarantined: number;
}

/** A record and its place in the order of commits: what a consumer keeps as its cursor. */
export interface Change {
  readonly cursor: number;
  readonly record: InventoryRecord;
}

/** What changed, for a consumer outside. */
export interface Feed {
  /** In commit order, each record once with its latest state. */
  readonly entries: readonly FeedEntry[];
  /** Cursor after the last of them: it survives restarts. */
  readonly next: string;
}

export interface FeedEntry {
  readonly cursor: string;
  readonly cluster: string;
  readonly kind: string;
  readonly uid: string;
  /** Null: its record was purged. */
  readonly record: InventoryRecord | null;
}

/** SQLite answers at once, PostgreSQL later: who awaits serves both. */
type Awaitable<T> = T | Promise<T>;

/** UID and version of what exists. */
export interface Known {
  readonly uid: string;
  readonly resourceVersion: string | null;
}

/** Reading. Any number of processes may, while one writes. */
export interface StoreReader extends AsyncDisposable {
  query(query: InventoryQuery): Awaitable<QueryAnswer>;
  /** All records of a UID, newest last: more than one only after a restored etcd. */
  show(uid: string): Awaitable<readonly RecordDetail[]>;
  gaps(between?: readonly [number, number]): Awaitable<readonly Gap[]>;
  status(): Awaitable<StoreStatus>;
  /** Whether there is a record of it, live or gone. */
  has(kind: string, uid: string): Awaitable<boolean>;
  /** What exists, to begin a reflector with. */
  known(kind: string): Awaitable<Iterable<Known>>;
  position(stream: string): Awaitable<StreamPosition | null>;
  /** Sequence up to which a queue is applied; 0 for another queue than the one that wrote it. */
  applied(queue: string): Awaitable<number>;
  /** Records changed after a cursor (0 = all), each once with its latest state, in commit order. */
  changes(after: number, limit: number): Awaitable<readonly Change[]>;
  /** What changed after a cursor (null = from the beginning), purged records too. TRAWLER_GONE for one that has expired. */
  feed(since: string | null, limit: number): Awaitable<Feed>;
  /** What a purge would take away. */
  purgeable(retention: Retention, now: number): Awaitable<number>;
}

/**
 * The store of one cluster. This is the seam between SQLite and PostgreSQL: a batch with its position is one
 * transaction, in which the writer's right is checked. Errors: TRAWLER_BUSY for a token that is too low,
 * TRAWLER_REFUSED for another cluster's store, TRAWLER_UNAVAILABLE.
 */
export interface Store extends StoreReader {
  apply(batch: Batch): Awaitable<Applied>;
  /** Raises the lowest token that may write. Returns false where a higher one has been seen. */
  fence(token: number): Awaitable<boolean>;
  /** Takes away at most `limit` records; returns how many. Call until 0, with pauses. */
  purge(retention: Retention, now: number, limit: number): Awaitable<number>;
}

type AtOnce<T> = {
  readonly [K in Exclude<keyof T, symbol>]: T[K] extends (...given: infer A) => infer R
    ? (...given: A) => Awaited<R>
    : never;
};

/** The embedded store: nothing has to be awaited. */
export type SqliteStoreReader = AtOnce<StoreReader> & Disposable & AsyncDisposable;
export type SqliteStore = AtOnce<Store> & Disposable & AsyncDisposable;
