import type { InventoryEvent, QueuedEvent } from "../events.ts";
import { bytesOf, numberOf, openForReading, textOf } from "../sqlite.ts";
import { decodeEvents, sizeOf } from "./codec.ts";

/** Reads a queue's file beside its thread. What it sees is durable. */
export interface QueueReader extends Disposable {
  /** Lets go of the payloads that were read so far, at once: a collector of garbage sees only the heap. */
  free(): void;
  /** Events after a sequence, oldest first, until the count or the bytes of the payloads are reached; at least one. */
  read(after: number, limit: number, maxBytes: number): QueuedEvent[];
}

export function openQueueReader(file: string): QueueReader {
  const database = openForReading(file);
  const next = database.prepare("SELECT * FROM events WHERE last > ? ORDER BY last LIMIT 1");
  // What is left of the commit that was read last.
  let left: QueuedEvent[] = [];
  const blocks: ArrayBuffer[] = [];

  const commitAfter = (after: number): QueuedEvent[] => {
    if (left[0]?.sequence === after + 1) return left;
    const row = next.get(after);
    const first = numberOf(row?.["first"]);
    if (row === undefined) return [];
    const events = decodeEvents(textOf(row["heads"]) ?? "", textOf(row["lengths"]) ?? "", bytesOf(row["payloads"]));
    const block = blockOf(events);
    if (block !== null) blocks.push(block);
    return events
      .map((event, index) => ({ sequence: first + index, event }))
      .filter(({ sequence }) => sequence > after);
  };

  return {
    free: () => {
      // The newest one may hold what is left of its commit.
      const done = blocks.splice(0, left.length === 0 ? blocks.length : Math.max(0, blocks.length - 1));
      for (const block of done) block.transfer(0);
    },
    read: (after, limit, maxBytes) => {
      const found: QueuedEvent[] = [];
      let bytes = 0;
      while (found.length < limit && bytes < maxBytes) {
        const commit = commitAfter(found.at(-1)?.sequence ?? after);
        let taken = 0;
        for (const queued of commit) {
          if (found.length >= limit || bytes >= maxBytes) break;
          found.push(queued);
          bytes += sizeOf(queued.event);
          taken += 1;
        }
        left = commit.slice(taken);
        if (taken === 0) break;
      }
      return found;
    },
    [Symbol.dispose]: () => database.close(),
  };
}

/** Smaller ones may be parts of the pool that Node cuts buffers from. */
const OWN_BLOCK = 1024 * 1024;

/** The payloads of one commit are parts of one block; null where it is not worth freeing. */
function blockOf(events: readonly InventoryEvent[]): ArrayBuffer | null {
  const first = events.find((event) => "payload" in event);
  const buffer = first !== undefined && "payload" in first ? first.payload.buffer : null;
  return buffer instanceof ArrayBuffer && buffer.byteLength >= OWN_BLOCK ? buffer : null;
}
