import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";

/** Bytes of the log after which it is written to its file: what is changed often until then is written once. */
const CHECKPOINT = 32 * 1024 * 1024;

/** Opens a data base for its only writer: WAL, and each commit is on the disk before it is seen. Sizes in bytes. */
export function openForWriting(file: string, pageSize: number, cacheSize: number): DatabaseSync {
  makePrivate(file);
  return open(file, false, [
    `PRAGMA page_size = ${pageSize}`,
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA journal_size_limit = 67108864",
    `PRAGMA wal_autocheckpoint = ${CHECKPOINT / pageSize}`,
    `PRAGMA cache_size = -${cacheSize / 1024}`,
  ]);
}

/** Opens a data base that another thread or process may be writing. */
export function openForReading(file: string): DatabaseSync {
  return open(file, true, ["PRAGMA query_only = 1"]);
}

/** Objects may hold secrets: nobody else may read them. SQLite gives its other files the same mode. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    throw new TrawlerError("TRAWLER_UNAVAILABLE", `cannot open ${file}: ${errorMessage(error)}`);
  }
}

function open(file: string, readOnly: boolean, pragmas: readonly string[]): DatabaseSync {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { readOnly, timeout: 5000 });
    for (const pragma of pragmas) database.exec(pragma);
    return database;
  } catch (error) {
    database?.close();
    throw new TrawlerError("TRAWLER_UNAVAILABLE", `cannot open ${file}: ${errorMessage(error)}`);
  }
}

/** Runs it as one transaction; nothing of it stays where it throws. */
export function transaction<T>(database: DatabaseSync, run: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = run();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // SQLite has rolled back by itself where the disk was full.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Readers of columns: what has another type is the neutral value. */
export function numberOf(value: unknown): number {
  return typeof value === "number" ? value : typeof value === "bigint" ? Number(value) : 0;
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function bytesOf(value: unknown): Uint8Array | null {
  return value instanceof Uint8Array ? value : null;
}
