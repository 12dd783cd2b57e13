import type { ReadAt } from "@trawler/plugin-api";
import { Damaged, exactly, part, Visited, view } from "./bytes.ts";

/** Berkeley DB's `db_page.h`: magic of hash databases, page types, item types. */
const HASH_MAGIC = 0x061561;
const HASH_META = 8;
const HASH_PAGES: ReadonlySet<number> = new Set([2, 13]);
const OVERFLOW = 7;
const ON_PAGE = 1;
const OFF_PAGE = 3;
const PAGE_HEADER = 26;
const META = 72;

export interface BerkeleyLimits {
  /** Bytes of one value; a larger one ends the reading. */
  readonly maxValue: number;
  readonly maxPages: number;
  readonly maxEntries: number;
}

type Entry = readonly [key: Uint8Array, value: Uint8Array];

interface Database {
  readonly pageSize: number;
  readonly littleEndian: boolean;
  readonly maxValue: number;
  readonly visited: Visited;
  page(number: number): Promise<Uint8Array>;
}

/**
 * Key and value of each entry of a Berkeley DB hash database, in the order of its pages. Throws `Damaged` where the file
 * contradicts itself; the entries before that are good.
 */
export async function* berkeleyEntries(readAt: ReadAt, limits: BerkeleyLimits): AsyncGenerator<Entry> {
  const meta = view(await exactly(readAt, 0, META));
  const littleEndian = meta.getUint32(12, true) === HASH_MAGIC;
  if (!littleEndian && meta.getUint32(12) !== HASH_MAGIC) throw new Damaged("is no hash database of Berkeley DB");
  const pageSize = meta.getUint32(20, littleEndian);
  const lastPage = meta.getUint32(32, littleEndian);
  if (meta.getUint8(25) !== HASH_META || meta.getUint8(24) !== 0)
    throw new Damaged("is encrypted or has no valid head");
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) throw new Damaged("has no page size");
  const page = (number: number): Promise<Uint8Array> => exactly(readAt, number * pageSize, pageSize);
  const visited = new Visited();
  const database: Database = { pageSize, littleEndian, maxValue: limits.maxValue, visited, page };
  let entries = 0;
  for (let number = 1; number <= lastPage; number++) {
    if (number > limits.maxPages) throw new Damaged(`has more than ${limits.maxPages} pages`);
    const found = await page(number);
    if (!HASH_PAGES.has(view(found).getUint8(25))) continue;
    for await (const entry of entriesOf(database, found)) {
      if (++entries > limits.maxEntries) throw new Damaged(`has more than ${limits.maxEntries} entries`);
      if (entry) yield entry;
    }
  }
}

/** Null for an entry that is none of rpm's, so that it is counted. */
async function* entriesOf(database: Database, page: Uint8Array): AsyncGenerator<Entry | null> {
  const { pageSize, littleEndian } = database;
  const field = view(page);
  const count = field.getUint16(20, littleEndian);
  const offsets = view(part(page, PAGE_HEADER, count * 2));
  // Items are laid from the page's end on: each ends where the one before it begins.
  const item = (index: number): Uint8Array => {
    const start = offsets.getUint16(index * 2, littleEndian);
    const end = index === 0 ? pageSize : offsets.getUint16((index - 1) * 2, littleEndian);
    return part(page, start, end - start);
  };
  for (let index = 0; index + 1 < count; index += 2) {
    const key = await content(database, item(index));
    const value = await content(database, item(index + 1));
    yield key && value ? [key, value] : null;
  }
}

/** What an item stands for; null for duplicates, which rpm's packages do not have. */
async function content(database: Database, item: Uint8Array): Promise<Uint8Array | null> {
  const type = item[0];
  if (type === ON_PAGE) return item.subarray(1);
  if (type !== OFF_PAGE) return null;
  const { littleEndian, maxValue, visited, page } = database;
  const reference = view(part(item, 0, 12));
  const total = reference.getUint32(8, littleEndian);
  if (total > maxValue) throw new Damaged(`has a value of ${total} bytes`);
  const whole = new Uint8Array(total);
  let next = reference.getUint32(4, littleEndian);
  for (let used = 0; used < total; ) {
    visited.visit(next);
    const overflow = await page(next);
    const field = view(overflow);
    const length = field.getUint16(22, littleEndian);
    if (field.getUint8(25) !== OVERFLOW || length === 0 || used + length > total) {
      throw new Damaged(`page ${next} is not the next part of a value`);
    }
    whole.set(part(overflow, PAGE_HEADER, length), used);
    used += length;
    next = field.getUint32(16, littleEndian);
  }
  return whole;
}
