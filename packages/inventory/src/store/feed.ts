import type { DatabaseSync } from "node:sqlite";
import { TrawlerError } from "@trawler/plugin-api";
import { numberOf, textOf } from "../sqlite.ts";
import { readState } from "./schema.ts";
import type { Change, Feed, FeedEntry } from "./store.ts";

/** Purged records that consumers can still be told of. */
export const KEPT = 100_000;

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

/** Reads what changed after a cursor, as of one commit. */
export function readFeed(
  database: DatabaseSync,
  cluster: string,
  changes: (after: number, limit: number) => readonly Change[],
  since: string | null,
  limit: number,
): Feed {
  database.exec("BEGIN");
  try {
    const number = (name: string): number => Number(readState(database, name) ?? 0);
    const identity = readState(database, "identity") ?? "";
    const edges = { identity, newest: number("change"), forgotten: number("forgotten") };
    const after = feedPlace(edges, since);
    const purged = database
      .prepare("SELECT change, kind, uid FROM purged WHERE change > ? ORDER BY change LIMIT ?")
      .all(after, limit)
      .map(asPurged);
    return mergeFeed({ cluster, identity, after, limit }, changes(after, limit), purged);
  } finally {
    database.exec("COMMIT");
  }
}

interface FeedEdges {
  /** Of the store. */
  readonly identity: string;
  readonly newest: number;
  /** The last purged record that consumers can no longer be told of. */
  readonly forgotten: number;
}

/**
 * The place that a cursor means. A cursor belongs to one store, and expires when what was purged since is forgotten:
 * TRAWLER_GONE, to begin again with null.
 */
export function feedPlace({ identity, newest, forgotten }: FeedEdges, since: string | null): number {
  if (since === null) return 0;
  const [name, place = ""] = since.split("-");
  const after = name === identity && /^\d{1,15}$/.test(place) ? Number(place) : null;
  if (after === null || after > newest || after < forgotten) {
    throw new TrawlerError("TRAWLER_GONE", `the cursor ${since} has expired: begin again without one`);
  }
  return after;
}

interface Purged {
  readonly at: number;
  readonly kind: string;
  readonly uid: string;
  readonly record: null;
}

export function asPurged(row: Readonly<Record<string, unknown>>): Purged {
  const text = (name: string): string => textOf(row[name]) ?? "";
  return { at: numberOf(row["change"]), kind: text("kind"), uid: text("uid"), record: null };
}

interface FeedFrame {
  readonly cluster: string;
  readonly identity: string;
  readonly after: number;
  readonly limit: number;
}

/** Both in one order. */
export function mergeFeed(
  { cluster, identity, after, limit }: FeedFrame,
  changes: readonly Change[],
  purged: readonly Purged[],
): Feed {
  const records = changes.map(({ cursor, record }) => ({ at: cursor, kind: record.kind, uid: record.uid, record }));
  const both = [...records, ...purged].sort((a, b) => a.at - b.at).slice(0, limit);
  const entries = both.map(
    ({ at, kind, uid, record }): FeedEntry => ({ cursor: `${identity}-${at}`, cluster, kind, uid, record }),
  );
  return { entries, next: entries.at(-1)?.cursor ?? `${identity}-${after}` };
}
