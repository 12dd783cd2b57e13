import type { InventoryEvent, QueuedEvent } from "../events.ts";

export interface QueueStatus {
  /** Sequence of the newest durable event; 0 before the first. */
  readonly durable: number;
  /** Everything up to here was released. */
  readonly released: number;
  /** Events that were appended and are not durable yet, and their bytes. */
  readonly pending: number;
  readonly pendingBytes: number;
  /** Bytes of the queue's file that hold events. */
  readonly fileBytes: number;
  /** Intermediate states that were dropped since the start, as the quota was reached. */
  readonly compacted: number;
  /** Why nothing becomes durable at present (full disk, quota reached); null while all is well. */
  readonly fault: string | null;
}

/**
 * The one place where an event becomes durable: node:sqlite (WAL, synchronous FULL) in a thread of its own, committed
 * each 20 ms or 256 events. At the quota states between an object's first and its last are
 * dropped and counted. A full disk, or a quota where that gives no room, is a `fault`: what is pending stays pending in
 * order, is tried again, and nothing else is dropped. Errors: TRAWLER_GONE after `close`, TRAWLER_UNAVAILABLE where it cannot be opened.
 */
export interface DurableQueue extends AsyncDisposable {
  /** Random name of this queue's file: its sequences mean nothing in another one. */
  readonly identity: string;
  readonly file: string;
  /** Resolves with the last sequence once all of them survive a power cut. The payloads' bytes are copied at once. */
  append(events: readonly InventoryEvent[]): Promise<number>;
  /** Null while there is room; else resolves when there is again. A reader waits for it before it reads on. */
  room(): Promise<void> | null;
  /** Durable events after a sequence, oldest first. */
  read(after: number, limit: number): Promise<readonly QueuedEvent[]>;
  /** Lets go of everything up to a sequence: call only when a store has committed it. */
  release(sequence: number): void;
  status(): QueueStatus;
  /** Called after each commit with the newest durable sequence. */
  onDurable(listener: (sequence: number) => void): void;
  /** Commits what is pending, then closes. */
  close(): Promise<void>;
}
