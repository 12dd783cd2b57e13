import type { QueuedEvent } from "../events.ts";
import { bytesOf, numberOf, openForReading, textOf } from "../sqlite.ts";
import { decodeEvents, sizeOf } from "./codec.ts";

/** Reads a queue's file beside its thread. What it sees is durable. */
export interface QueueReader extends Disposable {
  /** Events after a sequence, oldest first, until the count or the bytes of the payloads are reached; at least one. */
  read(after: number, limit: number, maxBytes: number): QueuedEvent[];
}

export function openQueueReader(file: string): QueueReader {
  const database = openForReading(file);
  const next = database.prepare("SELECT * FROM events WHERE last > ? ORDER BY last LIMIT 1");
  // What is left of the commit that was read last.
  let left: QueuedEvent[] = [];

  const commitAfter = (after: number): QueuedEvent[] => {
    if (left[0]?.sequence === after + 1) return left;
    const row = next.get(after);
    const first = numberOf(row?.["first"]);
    if (row === undefined) return [];
    const events = decodeEvents(textOf(row["heads"]) ?? "", textOf(row["lengths"]) ?? "", bytesOf(row["payloads"]));
    return events
      .map((event, index) => ({ sequence: first + index, event }))
      .filter(({ sequence }) => sequence > after);
  };

  return {
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
