import { randomBytes } from "node:crypto";
import { TrawlerError } from "@trawler/plugin-api";
import { numberOf, textOf } from "../../sqlite.ts";
import { RECORD_INDEXES } from "../schema.ts";
import { type Session, type Sql, stateOf } from "./session.ts";
import { decodeText, encodeText } from "./text.ts";

const FORMAT = 1;

/**
 * As of SQLite, but that each record stands in one row: what is long PostgreSQL keeps out of line by itself. `store` is
 * one row: who may write, and the counts that move with each batch.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one), format integer NOT NULL, cluster text NOT NULL,
  identity text NOT NULL, token bigint NOT NULL DEFAULT 0, writer text NOT NULL DEFAULT '',
  change bigint NOT NULL DEFAULT 0, record bigint NOT NULL DEFAULT 0, stale bigint NOT NULL DEFAULT 0,
  quarantined bigint NOT NULL DEFAULT 0, ended bigint NOT NULL DEFAULT 0, forgotten bigint NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS applied (
  queue text PRIMARY KEY, sequence bigint NOT NULL, used bigint NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS positions (
  stream text PRIMARY KEY, version text NOT NULL, epoch integer NOT NULL, received bigint NOT NULL);
CREATE TABLE IF NOT EXISTS records (
  id bigint PRIMARY KEY, kind text NOT NULL, uid text NOT NULL, epoch integer NOT NULL, namespace text,
  name text NOT NULL, node text, owner_kind text, owner_name text, owner_uid text, version text,
  started bigint NOT NULL, ended bigint NOT NULL, changed bigint NOT NULL, body text NOT NULL, past text NOT NULL,
  digest text, object bytea);
ALTER TABLE records ALTER COLUMN object SET STORAGE EXTERNAL;
${RECORD_INDEXES}CREATE TABLE IF NOT EXISTS gaps (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, stream text NOT NULL, kind text NOT NULL, reason text NOT NULL,
  began bigint NOT NULL, ended bigint NOT NULL, from_version text, to_version text, note text NOT NULL);
CREATE TABLE IF NOT EXISTS figures (
  uid text NOT NULL, part integer NOT NULL, time text NOT NULL, frame bytea NOT NULL, PRIMARY KEY (uid, part));
CREATE TABLE IF NOT EXISTS purged (change bigint PRIMARY KEY, kind text NOT NULL, uid text NOT NULL);
CREATE TABLE IF NOT EXISTS quarantine (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sequence bigint NOT NULL, stream text NOT NULL, uid text,
  reason text NOT NULL, payload bytea);
`;

/** Makes the tables, and binds the schema to a cluster. Errors: TRAWLER_REFUSED for another cluster's, or a newer format. */
export async function prepareSchema({ sql }: Session, schema: string, cluster: string): Promise<void> {
  const [encoding] = await sql("SELECT current_setting('server_encoding') AS name");
  if (encoding?.["name"] !== "UTF8") {
    throw new TrawlerError(
      "TRAWLER_REFUSED",
      `the data base has encoding ${String(encoding?.["name"])}; it must be UTF8`,
    );
  }
  // A schema that an administrator has made may be used without the right to make one.
  const [found] = await sql("SELECT 1 AS found FROM pg_namespace WHERE nspname = $1", [schema]);
  if (found === undefined) await sql(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  const [made] = await sql("SELECT to_regclass('store') IS NOT NULL AS made");
  if (made?.["made"] !== true) await sql(TABLES);
  const [used] = await sql(
    "SELECT 1 AS found FROM pg_attribute WHERE attrelid = to_regclass('applied') AND attname = 'used'",
  );
  // Earlier ones lack it; asked first, as it locks out all readers.
  if (used === undefined) await sql("ALTER TABLE applied ADD COLUMN IF NOT EXISTS used bigint NOT NULL DEFAULT 0");
  await sql("INSERT INTO store (format, cluster, identity) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", [
    FORMAT,
    encodeText(cluster),
    randomBytes(4).toString("hex"),
  ]);
  await checkSchema(sql, schema, cluster);
}

/** `cluster` null = whichever it is. Returns its name. */
export async function checkSchema(sql: Sql, schema: string, cluster: string | null): Promise<string> {
  const row = await readStore(sql, schema);
  const format = numberOf(row["format"]);
  if (format !== FORMAT) {
    throw new TrawlerError("TRAWLER_REFUSED", `the inventory has format ${format}; this version reads ${FORMAT}`);
  }
  const bound = decodeText(textOf(row["cluster"]) ?? "");
  if (cluster !== null && bound !== cluster) {
    throw new TrawlerError(
      "TRAWLER_REFUSED",
      `schema ${schema} holds the inventory of cluster ${bound}, not of ${cluster}: give each cluster its own store.schema`,
    );
  }
  return bound;
}

async function readStore(sql: Sql, schema: string): Promise<Readonly<Record<string, unknown>>> {
  const none = `there is no inventory in schema ${schema}: start one with trawl inventory run`;
  try {
    const [row] = await sql("SELECT * FROM store");
    if (row !== undefined) return row;
  } catch (error) {
    // No such table, or no such schema.
    if (!["42P01", "3F000"].includes(stateOf(error))) throw error;
  }
  throw new TrawlerError("TRAWLER_UNAVAILABLE", none);
}
