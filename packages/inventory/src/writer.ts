import type { DurableQueue } from "./queue/queue.ts";
import type { Retention } from "./store/store.ts";
import type { StoreTarget } from "./store/target.ts";

export interface WriterOptions {
  readonly queue: DurableQueue;
  readonly store: StoreTarget;
  readonly cluster: string;
  /** The right to write (a count of Lease transitions); a store that has seen a higher one refuses. Default 0. */
  readonly token?: number;
  /** Milliseconds that the oldest event may wait; default 500, at most 5,000. */
  readonly flushMilliseconds?: number;
  /** Default 500 events and 4 MiB. */
  readonly flushEvents?: number;
  readonly flushBytes?: number;
  /** Absent = nothing is purged. */
  readonly retention?: Retention;
}

export interface WriterStatus {
  /** Sequence up to which everything is in the store. */
  readonly applied: number;
  readonly batches: number;
  readonly events: number;
  readonly staleIgnored: number;
  readonly quarantined: number;
  /** Milliseconds of the last batch, from reading it to its commit. */
  readonly lastBatchMilliseconds: number;
  /** Why nothing is applied at present; null while all is well. */
  readonly fault: string | null;
  /** The fault's code; TRAWLER_BUSY = another writer has taken over, and this one has stopped. */
  readonly faultCode: string | null;
}

/** Applies what the queue holds to the store, in a thread of its own, and releases it there. */
export interface Writer extends AsyncDisposable {
  status(): WriterStatus;
  /** Resolves once everything up to a sequence is in the store (at once, without waiting for the flush time). */
  flush(sequence: number): Promise<void>;
  /** Called after each batch. */
  onApplied(listener: (status: WriterStatus) => void): void;
  /** Applies what is durable, then ends. */
  close(): Promise<void>;
}
