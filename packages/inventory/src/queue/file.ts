import { randomUUID } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { numberOf, openForWriting, textOf, transaction } from "../sqlite.ts";
import { packPayloads } from "./codec.ts";
import { compact } from "./compact.ts";

const PAGE = 8192;
/** What was appended is read by others, and once. */
const CACHE = 2 * 1024 * 1024;
/** Released in steps of so many events, so that no append waits long for it. */
const RELEASE_STEP = 1000;
/** What a row takes beside its bytes. */
const SLACK = 16 * PAGE;
/** A pass over the whole queue is worth it once this part of it is new. */
const COMPACT_SHARE = 8;

/** The queue's file: one row for each commit. Used by its thread alone. Synchronous; what throws has changed nothing. */
export interface QueueFile {
  readonly identity: string;
  durable(): number;
  released(): number;
  append(heads: readonly string[], lengths: readonly number[], bytes: Uint8Array): number;
  /** Takes one step towards a sequence; true once it is reached. */
  release(sequence: number): boolean;
  bytes(): number;
  /** Whether it was its quota, not the disk, that left no room for so many bytes. */
  isAtQuota(size: number): boolean;
  /** Drops intermediate states step by step, each telling how many; null where a pass just ended and it is not worth it. */
  compact(): Iterator<number, void> | null;
  /** After a failed commit only a new look at the file tells what it holds. */
  reopen(): void;
  close(): void;
}

export function openQueueFile(file: string, maxBytes: number): QueueFile {
  let open = connect(file, maxBytes);
  let compactedTo = 0;
  const identity = open.identity;
  return {
    identity,
    durable: () => open.durable,
    released: () => open.released,
    append: (heads, lengths, bytes) => {
      const from = open.durable;
      const to = from + heads.length;
      // One row, packed as one: objects of a kind have much in common.
      const packed = packPayloads(bytes, lengths);
      transaction(open.database, () => open.insert.run(to, from + 1, heads.join("\n"), lengths.join(), packed));
      open.durable = to;
      return open.durable;
    },
    release: (sequence) => {
      const to = Math.min(sequence, open.durable, open.released + RELEASE_STEP);
      if (to > open.released) {
        transaction(open.database, () => {
          open.remove.run(to);
          open.setReleased.run(String(to));
        });
        open.released = to;
      }
      return to >= Math.min(sequence, open.durable);
    },
    bytes: () => {
      const pages = numberOf(open.pages.get()?.["page_count"]);
      return (pages - numberOf(open.free.get()?.["freelist_count"])) * PAGE;
    },
    isAtQuota: (size) => {
      const free = numberOf(open.free.get()?.["freelist_count"]);
      const most = pagesOf(maxBytes) - numberOf(open.pages.get()?.["page_count"]) + free;
      return most * PAGE < size + SLACK;
    },
    compact: () => {
      const { durable, released } = open;
      const fresh = durable - Math.max(compactedTo, released);
      if (fresh === 0 || fresh < (durable - released) / COMPACT_SHARE) return null;
      compactedTo = durable;
      return compact(open.database, released, durable);
    },
    reopen: () => {
      open.database.close();
      open = connect(file, maxBytes);
    },
    close: () => open.database.close(),
  };
}

function pagesOf(maxBytes: number): number {
  return Math.max(16, Math.floor(maxBytes / PAGE));
}

interface Connection {
  readonly database: DatabaseSync;
  readonly identity: string;
  readonly insert: StatementSync;
  readonly remove: StatementSync;
  readonly setReleased: StatementSync;
  readonly pages: StatementSync;
  readonly free: StatementSync;
  durable: number;
  released: number;
}

function connect(file: string, maxBytes: number): Connection {
  const database = openForWriting(file, PAGE, CACHE);
  try {
    database.exec(`PRAGMA max_page_count = ${pagesOf(maxBytes)};
      CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS events (
        last INTEGER PRIMARY KEY, first INTEGER NOT NULL, heads TEXT NOT NULL, lengths TEXT NOT NULL, payloads BLOB
      ) STRICT;`);
    database
      .prepare("INSERT OR IGNORE INTO state VALUES ('identity', ?), ('released', '0'), ('format', '1')")
      .run(randomUUID());
    const state = database.prepare("SELECT value FROM state WHERE name = ?");
    const released = Number(state.get("released")?.["value"] ?? 0);
    const newest = numberOf(database.prepare("SELECT max(last) AS newest FROM events").get()?.["newest"]);
    return {
      database,
      identity: textOf(state.get("identity")?.["value"]) ?? "",
      insert: database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?)"),
      remove: database.prepare("DELETE FROM events WHERE last <= ?"),
      setReleased: database.prepare("UPDATE state SET value = ? WHERE name = 'released'"),
      pages: database.prepare("PRAGMA page_count"),
      free: database.prepare("PRAGMA freelist_count"),
      durable: Math.max(newest, released),
      released,
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
