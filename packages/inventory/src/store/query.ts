import type { DatabaseSync } from "node:sqlite";
import { numberOf, textOf } from "../sqlite.ts";
import { LIVE } from "./schema.ts";
import type { InventoryQuery } from "./store.ts";

export interface Row {
  readonly id: number;
  readonly body: string;
  readonly started: number;
  readonly ended: number;
  readonly changed: number;
  readonly digest: string | null;
}

const DEFAULT_LIMIT = 1000;
export const MOST = 100_000;
const COLUMNS = "id, body, started, ended, changed, (SELECT digest FROM details WHERE record = id) AS digest";

export interface QueryText {
  /** With `?` for each value. */
  readonly sql: string;
  readonly values: readonly (string | number)[];
  readonly limit: number;
}

/** Finds records, the newest first. One more than the limit shows that there are further ones. */
export function findRows(database: DatabaseSync, query: InventoryQuery): { rows: readonly Row[]; more: boolean } {
  const { sql, values, limit } = queryText(query, COLUMNS);
  const rows = database
    .prepare(sql)
    .all(...values)
    .map(asRow);
  return { rows: rows.slice(0, limit), more: rows.length > limit };
}

/** The question in SQL as both stores understand it. */
export function queryText(query: InventoryQuery, columns: string): QueryText {
  const where: string[] = [];
  const values: (string | number)[] = [];
  const add = (condition: string, ...given: readonly (string | number)[]): void => {
    where.push(condition);
    values.push(...given);
  };
  if (query.kind !== undefined) add("kind = ?", query.kind);
  if (query.node !== undefined) add("node = ?", query.node);
  if (query.namespace !== undefined) add("namespace = ?", query.namespace);
  if (query.name !== undefined) add("name = ?", query.name);
  // Without anything narrower the newest rows are found fastest from the end of the table.
  const ended =
    query.between === undefined && query.node === undefined && query.namespace === undefined ? "+ended" : "ended";
  if (query.between !== undefined) add(`ended >= ? AND started <= ?`, query.between[0], query.between[1]);
  if (query.deleted === true) add(`${ended} < ${LIVE}`);
  else if (query.deleted === false || query.between === undefined) add(`ended = ${LIVE}`);
  if (query.after !== undefined) add("id < ?", query.after);
  const { owner } = query;
  if (owner !== undefined) {
    add(`(owner_name = ? AND owner_kind = ? OR owner_uid IN (SELECT uid FROM owned))`, owner.name, owner.kind);
  }
  const limit = Math.min(query.limit ?? DEFAULT_LIMIT, MOST);
  const chain = owner === undefined ? "" : OWNED;
  const before = owner === undefined ? [] : [owner.name, owner.kind, owner.kind, owner.name];
  const sql = `${chain} SELECT ${columns} FROM records WHERE ${where.join(" AND ")} ORDER BY id DESC LIMIT ?`;
  return { sql, values: [...before, ...values, limit + 1], limit };
}

/** UIDs below an owner: its own, and those of all that it owns directly or through others. */
const OWNED = `WITH RECURSIVE owned (uid) AS (
  SELECT owner_uid FROM records WHERE owner_name = ? AND owner_kind = ?
  UNION SELECT uid FROM records WHERE kind = ? AND name = ?
  UNION SELECT records.uid FROM records JOIN owned ON records.owner_uid = owned.uid)`;

export function asRow(row: Readonly<Record<string, unknown>>): Row {
  return {
    id: numberOf(row["id"]),
    body: textOf(row["body"]) ?? "{}",
    started: numberOf(row["started"]),
    ended: numberOf(row["ended"]),
    changed: numberOf(row["changed"]),
    digest: textOf(row["digest"]),
  };
}

export function rowsOf(database: DatabaseSync, uid: string): readonly Row[] {
  return database.prepare(`SELECT ${COLUMNS} FROM records WHERE uid = ? ORDER BY epoch, id`).all(uid).map(asRow);
}

export function changedRows(database: DatabaseSync, after: number, limit: number): readonly Row[] {
  return database
    .prepare(`SELECT ${COLUMNS} FROM records WHERE changed > ? ORDER BY changed LIMIT ?`)
    .all(after, Math.min(limit, MOST))
    .map(asRow);
}
