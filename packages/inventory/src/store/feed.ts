import type { DatabaseSync } from "node:sqlite";
import { TrawlerError } from "@trawler/plugin-api";
import { numberOf, textOf } from "../sqlite.ts";
import { readState } from "./schema.ts";
import type { Change, Feed, FeedEntry } from "./store.ts";

/** Purged records that consumers can still be told of. */
const KEPT = 100_000;

/** A purge's side of the feed: that a record is no more is a change too. Call inside the purge's transaction. */
export function preparePurged(database: DatabaseSync): {
  add(change: number, kind: string, uid: string): void;
  /** Forgets the oldest; returns the last change that is forgotten, or null. */
  trim(): number | null;
} {
  const isLeft = database.prepare("SELECT 1 FROM records WHERE uid = ? AND kind = ? LIMIT 1");
  const insert = database.prepare("INSERT INTO purged VALUES (?, ?, ?)");
  const edge = database.prepare("SELECT change FROM purged ORDER BY change DESC LIMIT 1 OFFSET ?");
  const remove = database.prepare("DELETE FROM purged WHERE change <= ?");
  return {
    add: (change, kind, uid) => {
      if (isLeft.get(uid, kind) === undefined) insert.run(change, kind, uid);
    },
    trim: () => {
      const oldest = edge.get(KEPT);
      if (oldest === undefined) return null;
      const change = numberOf(oldest["change"]);
      remove.run(change);
      return change;
    },
  };
}

/**
 * Reads what changed after a cursor. A cursor belongs to one store, and expires when what was purged since is forgotten:
 * TRAWLER_GONE, to begin again with null.
 */
export function readFeed(
  database: DatabaseSync,
  cluster: string,
  changes: (after: number, limit: number) => readonly Change[],
  since: string | null,
  limit: number,
): Feed {
  const identity = readState(database, "identity") ?? "";
  const newest = Number(readState(database, "change") ?? 0);
  const after = since === null ? 0 : placeOf(since, identity);
  if (after === null || after > newest || (since !== null && after < Number(readState(database, "forgotten") ?? 0))) {
    throw new TrawlerError("TRAWLER_GONE", `the cursor ${since} has expired: begin again without one`);
  }
  const records = changes(after, limit).map(({ cursor, record }) => ({
    at: cursor,
    kind: record.kind,
    uid: record.uid,
    record,
  }));
  const purged = database
    .prepare("SELECT change, kind, uid FROM purged WHERE change > ? ORDER BY change LIMIT ?")
    .all(after, limit)
    .map((row) => ({
      at: numberOf(row["change"]),
      kind: textOf(row["kind"]) ?? "",
      uid: textOf(row["uid"]) ?? "",
      record: null,
    }));
  const both = [...records, ...purged].sort((a, b) => a.at - b.at).slice(0, limit);
  const entries = both.map(
    ({ at, kind, uid, record }): FeedEntry => ({ cursor: `${identity}-${at}`, cluster, kind, uid, record }),
  );
  return { entries, next: entries.at(-1)?.cursor ?? `${identity}-${after}` };
}

function placeOf(cursor: string, identity: string): number | null {
  const [name, place = ""] = cursor.split("-");
  return name === identity && /^\d{1,15}$/.test(place) ? Number(place) : null;
}
