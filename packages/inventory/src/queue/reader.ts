import type { QueuedEvent } from "../events.ts";
import { bytesOf, numberOf, openForReading, textOf } from "../sqlite.ts";
import { decodeEvent, sizeOf } from "./codec.ts";

/** Reads a queue's file beside its thread. What it sees is durable. */
export interface QueueReader extends Disposable {
  /** Events after a sequence, oldest first, until the count or the bytes of the payloads are reached; at least one. */
  read(after: number, limit: number, maxBytes: number): QueuedEvent[];
}

export function openQueueReader(file: string): QueueReader {
  const database = openForReading(file);
  const rows = database.prepare(
    "SELECT sequence, head, payload FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?",
  );
  return {
    read: (after, limit, maxBytes) => {
      const found: QueuedEvent[] = [];
      let bytes = 0;
      for (const row of rows.iterate(after, limit)) {
        const event = decodeEvent(textOf(row["head"]) ?? "null", bytesOf(row["payload"]));
        found.push({ sequence: numberOf(row["sequence"]), event });
        bytes += sizeOf(event);
        if (bytes >= maxBytes) break;
      }
      return found;
    },
    [Symbol.dispose]: () => database.close(),
  };
}
