import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { TrawlerError } from "@trawler/plugin-api";
import { textOf } from "../sqlite.ts";

const FORMAT = "2";
/** `ended` of what exists: later than any time. */
export const LIVE = 9_007_199_254_740_991;

/** How records are searched, whatever the data base. */
export const RECORD_INDEXES: string = `CREATE UNIQUE INDEX IF NOT EXISTS records_uid ON records (uid, kind, epoch);
CREATE INDEX IF NOT EXISTS records_node ON records (node, ended, started);
CREATE INDEX IF NOT EXISTS records_namespace ON records (namespace, ended, started);
CREATE INDEX IF NOT EXISTS records_ended ON records (ended, started);
CREATE INDEX IF NOT EXISTS records_live ON records (kind, name, namespace) WHERE ended = ${LIVE};
CREATE INDEX IF NOT EXISTS records_owner ON records (owner_uid) WHERE owner_uid IS NOT NULL;
CREATE INDEX IF NOT EXISTS records_owner_name ON records (owner_name) WHERE owner_name IS NOT NULL;
CREATE INDEX IF NOT EXISTS records_changed ON records (changed);
`;

/**
 * `records` is narrow, for searching: what a query shows stands in `body`. `details` holds what only `show` needs.
 * Objects stand in `blocks`, several packed together; those above 64 KiB stand once in `payloads`, by digest. Times are milliseconds of our wall clock.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS applied (queue TEXT PRIMARY KEY, sequence INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS positions (
  stream TEXT PRIMARY KEY, version TEXT NOT NULL, epoch INTEGER NOT NULL, received INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS records (
  id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, uid TEXT NOT NULL, epoch INTEGER NOT NULL,
  namespace TEXT, name TEXT NOT NULL, node TEXT, owner_kind TEXT, owner_name TEXT, owner_uid TEXT,
  started INTEGER NOT NULL, ended INTEGER NOT NULL, changed INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
${RECORD_INDEXES}CREATE TABLE IF NOT EXISTS details (
  record INTEGER PRIMARY KEY, past TEXT NOT NULL, block INTEGER, place INTEGER, digest TEXT) STRICT;
CREATE INDEX IF NOT EXISTS details_block ON details (block) WHERE block IS NOT NULL;
CREATE INDEX IF NOT EXISTS details_digest ON details (digest) WHERE digest IS NOT NULL;
CREATE TABLE IF NOT EXISTS blocks (id INTEGER PRIMARY KEY, lengths TEXT NOT NULL, objects BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS payloads (digest TEXT PRIMARY KEY, object BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS gaps (
  id INTEGER PRIMARY KEY AUTOINCREMENT, stream TEXT NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL,
  began INTEGER NOT NULL, ended INTEGER NOT NULL, from_version TEXT, to_version TEXT, note TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS figures (
  uid TEXT NOT NULL, part INTEGER NOT NULL, time TEXT NOT NULL, frame BLOB NOT NULL, PRIMARY KEY (uid, part)) STRICT;
CREATE TABLE IF NOT EXISTS purged (change INTEGER PRIMARY KEY, kind TEXT NOT NULL, uid TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS quarantine (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sequence INTEGER NOT NULL, stream TEXT NOT NULL, uid TEXT,
  reason TEXT NOT NULL, payload BLOB) STRICT;
`;

/** Makes the tables, and binds the file to a cluster. Errors: TRAWLER_REFUSED for another cluster's, or a newer format. */
export function prepareSchema(database: DatabaseSync, cluster: string): void {
  database.exec(TABLES);
  database
    .prepare("INSERT OR IGNORE INTO state VALUES ('format', ?), ('cluster', ?), ('identity', ?)")
    .run(FORMAT, cluster, randomBytes(4).toString("hex"));
  checkSchema(database, cluster);
}

/** `cluster` null = whichever it is. Returns its name. */
export function checkSchema(database: DatabaseSync, cluster: string | null): string {
  const format = readState(database, "format");
  if (format !== FORMAT) {
    throw new TrawlerError(
      "TRAWLER_REFUSED",
      `the inventory has format ${format ?? "none"}; this version reads ${FORMAT}`,
    );
  }
  const bound = readState(database, "cluster") ?? "";
  if (cluster !== null && bound !== cluster) {
    throw new TrawlerError("TRAWLER_REFUSED", `this inventory belongs to cluster ${bound}, not to ${cluster}`);
  }
  return bound;
}

export function readState(database: DatabaseSync, name: string): string | null {
  return textOf(database.prepare("SELECT value FROM state WHERE name = ?").get(name)?.["value"]);
}

export function writeState(database: DatabaseSync, name: string, value: string): void {
  database
    .prepare("INSERT INTO state VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
    .run(name, value);
}
