import type { ReadAt } from "@trawler/plugin-api";
import { Damaged, exactly, part, Visited, view } from "./bytes.ts";
import { readRecord, readVarint } from "./sqlite-record.ts";
import { readWal } from "./sqlite-wal.ts";

const MAGIC = "SQLite format 3\0";
const FILE_HEADER = 100;
const INTERIOR = 0x05;
const LEAF = 0x0d;
/** A tree of the largest database that SQLite can make is not as deep. */
const MAX_DEPTH = 20;
const UTF8 = 1;

export interface SqliteLimits {
  /** Bytes of one row; a larger one ends the reading. */
  readonly maxRow: number;
  /** Rows that are looked at, those of the schema included. */
  readonly maxRows: number;
  /** Bytes of the write-ahead log that are read. */
  readonly maxLog: number;
}

interface Database {
  /** Bytes of a page that hold data. */
  readonly usable: number;
  readonly limits: SqliteLimits;
  readonly visited: Visited;
  rows: number;
  page(number: number): Promise<Uint8Array>;
}

/**
 * The first blob of each row of one table of an SQLite 3 database, with what is committed in its write-ahead log, in
 * the order of the row ids. Reads by the published file format, without locks: who writes meanwhile is noticed by the
 * caller. Throws `Damaged` where the file contradicts itself; the rows before that are good.
 */
export async function* sqliteBlobs(
  readAt: ReadAt,
  readLogAt: ReadAt | null,
  table: string,
  limits: SqliteLimits,
): AsyncGenerator<Uint8Array> {
  const header = await exactly(readAt, 0, FILE_HEADER);
  if (new TextDecoder("latin1").decode(header.subarray(0, 16)) !== MAGIC) throw new Damaged("is no SQLite database");
  const field = view(header);
  const written = field.getUint16(16);
  const pageSize = written === 1 ? 65_536 : written;
  const usable = pageSize - field.getUint8(20);
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0 || usable < 480) throw new Damaged("has no valid page size");
  const log = readLogAt && (await readWal(readLogAt, pageSize, limits.maxLog));
  const page = async (number: number): Promise<Uint8Array> => {
    if (number < 1) throw new Damaged("points at no page");
    const logged = log?.get(number);
    if (logged !== undefined && readLogAt) return exactly(readLogAt, logged, pageSize);
    return exactly(readAt, (number - 1) * pageSize, pageSize);
  };
  const encoding = view(await page(1)).getUint32(56);
  if (encoding !== UTF8 && encoding !== 0) throw new Damaged("holds its texts in another encoding than UTF-8");

  const database: Database = { usable, limits, visited: new Visited(), rows: 0, page };
  const root = await rootOf(database, table);
  for await (const payload of rows(database, root, 0)) {
    const blob = readRecord(payload).find((value) => value instanceof Uint8Array);
    if (blob instanceof Uint8Array) yield blob;
  }
}

/** Looks the table up in the schema, whose tree has its root on page 1. */
async function rootOf(database: Database, table: string): Promise<number> {
  for await (const payload of rows(database, 1, 0)) {
    const [type, name, , root] = readRecord(payload);
    if (type === "table" && name === table && typeof root === "number" && root > 1) return root;
  }
  throw new Damaged(`has no table ${table}`);
}

async function* rows(database: Database, number: number, depth: number): AsyncGenerator<Uint8Array> {
  if (depth > MAX_DEPTH) throw new Damaged("has a tree that is too deep");
  database.visited.visit(number);
  const page = await database.page(number);
  const start = number === 1 ? FILE_HEADER : 0;
  const field = view(page);
  const kind = field.getUint8(start);
  const cells = field.getUint16(start + 3);
  if (kind !== INTERIOR && kind !== LEAF) throw new Damaged(`page ${number} is no page of a table`);
  const pointers = start + (kind === INTERIOR ? 12 : 8);
  part(page, pointers, cells * 2);
  for (let cell = 0; cell < cells; cell++) {
    const at = field.getUint16(pointers + cell * 2);
    if (kind === INTERIOR) yield* rows(database, view(part(page, at, 4)).getUint32(0), depth + 1);
    else yield await payloadOf(database, page, at);
  }
  if (kind === INTERIOR) yield* rows(database, field.getUint32(start + 8), depth + 1);
}

/** A row's bytes: the first of them stand in the cell, the rest on a chain of pages. */
async function payloadOf(database: Database, cell: Uint8Array, at: number): Promise<Uint8Array> {
  const { usable, limits, visited, page } = database;
  // Many cells of a page may point at one place.
  if (++database.rows > limits.maxRows) throw new Damaged(`has more than ${limits.maxRows} rows`);
  const length = readVarint(cell, at);
  const rowId = readVarint(cell, length.next);
  const total = length.value;
  if (total > limits.maxRow) throw new Damaged(`has a row of ${total} bytes`);
  const most = usable - 35;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const rest = least + ((total - least) % (usable - 4));
  const local = total <= most ? total : rest <= most ? rest : least;
  const first = part(cell, rowId.next, local);
  if (local === total) return first;
  const whole = new Uint8Array(total);
  whole.set(first);
  let next = view(part(cell, rowId.next + local, 4)).getUint32(0);
  for (let used = local; used < total; ) {
    visited.visit(next);
    const overflow = await page(next);
    const taken = overflow.subarray(4, Math.min(usable, 4 + total - used));
    whole.set(taken, used);
    used += taken.length;
    next = view(overflow).getUint32(0);
  }
  return whole;
}
