import type { Row } from "./ask.ts";

/** Field, column, unit, meaning. Names are those of OpenTelemetry's PostgreSQL receiver where it has one. */
export const SERVER_FIGURES = [
  ["postgresql.uptime", "uptime", "s", "Time since the start."],
  ["postgresql.connection.max", "max_connections", "{connection}", "Most connections that are allowed."],
  ["postgresql.connection.count", "connections", "{connection}", "Connections of clients."],
  ["postgresql.connection.active", "active", "{connection}", "Of these, those that run a query."],
  [
    "postgresql.connection.idle_in_transaction",
    "idle_in_transaction",
    "{connection}",
    "Of these, those that keep a transaction open and do nothing.",
  ],
  ["postgresql.lock.waiting", "waiting_locks", "{lock}", "Locks that are waited for."],
  ["postgresql.replica.count", "replicas", "{replica}", "Replicas that stream from it."],
  ["postgresql.replication.lag", "replay_lag", "s", "On a replica: since the last transaction that it replayed."],
] as const;

export const DATABASE_FIGURES = [
  ["postgresql.db_size", "size", "By", "Size on disk; null where the user may not ask."],
  ["postgresql.backends", "numbackends", "{connection}", "Connections to it."],
  ["postgresql.commits", "xact_commit", "{transaction}", "Transactions committed."],
  ["postgresql.rollbacks", "xact_rollback", "{transaction}", "Transactions rolled back."],
  ["postgresql.blocks_read", "blks_read", "{block}", "Blocks read from disk."],
  ["postgresql.blks_hit", "blks_hit", "{block}", "Blocks found in the buffer cache."],
  ["postgresql.tup_returned", "tup_returned", "{row}", "Rows that scans went over."],
  ["postgresql.tup_fetched", "tup_fetched", "{row}", "Rows fetched."],
  ["postgresql.tup_inserted", "tup_inserted", "{row}", "Rows inserted."],
  ["postgresql.tup_updated", "tup_updated", "{row}", "Rows updated."],
  ["postgresql.tup_deleted", "tup_deleted", "{row}", "Rows deleted."],
  ["postgresql.conflicts", "conflicts", "{query}", "Queries cancelled by recovery."],
  ["postgresql.temp_files", "temp_files", "{file}", "Temporary files made."],
  ["postgresql.temp.io", "temp_bytes", "By", "Bytes written to them."],
  ["postgresql.deadlocks", "deadlocks", "{deadlock}", "Deadlocks found."],
] as const;

type Figures = readonly (readonly [field: string, column: string, unit: string, meaning: string])[];

/** The figures of a row by their fields; null where the server does not say, or says no number. */
export function figuresOf(figures: Figures, row: Row): Readonly<Record<string, number | null>> {
  return Object.fromEntries(figures.map(([field, column]) => [field, numberOf(row[column])]));
}

/** The protocol carries bigint and numeric as text. */
function numberOf(value: unknown): number | null {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : null;
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value.slice(0, 128) : null;
}
