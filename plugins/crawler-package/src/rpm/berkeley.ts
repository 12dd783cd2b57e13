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
/** Bytes of items; headers are too large to stand among them, and are referred to. */
const MAX_KEPT = 32 * 1_048_576;

export interface BerkeleyLimits {
  /** Bytes of one value; a larger one ends the reading. */
  readonly maxValue: number;
  readonly maxPages: number;
  readonly maxEntries: number;
}

type Entry = readonly [key: Uint8Array, value: Uint8Array];

interface Item {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Where its content stands. */
  readonly page: number;
}

interface Database {
  readonly pageSize: number;
  readonly littleEndian: boolean;
  readonly lastPage: number;
  readonly maxValue: number;
  readonly visited: Visited;
  page(number: number): Promise<Uint8Array>;
}

/**
 * Key and value of each entry of a Berkeley DB hash database, in the order in which its values stand in the file: then
 * each part of it is read twice at most, however the hash has scattered the keys. Throws `Damaged` where the file
 * contradicts itself, after the entries that are good.
 */
export async function* berkeleyEntries(readAt: ReadAt, limits: BerkeleyLimits): AsyncGenerator<Entry> {
  const database = await openDatabase(readAt, limits);
  const items: Item[] = [];
  let damage: unknown;
  try {
    for await (const item of itemsOf(database, limits)) items.push(item);
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    damage = error;
  }
  for (const { key, value } of items.sort((a, b) => a.page - b.page)) {
    const [found, content] = [await contentOf(database, key), await contentOf(database, value)];
    if (found && content) yield [found, content];
  }
  if (damage !== undefined) throw damage;
}

async function openDatabase(readAt: ReadAt, { maxValue }: BerkeleyLimits): Promise<Database> {
  const meta = view(await exactly(readAt, 0, META));
  const littleEndian = meta.getUint32(12, true) === HASH_MAGIC;
  if (!littleEndian && meta.getUint32(12) !== HASH_MAGIC) throw new Damaged("is no hash database of Berkeley DB");
  const pageSize = meta.getUint32(20, littleEndian);
  if (meta.getUint8(25) !== HASH_META || meta.getUint8(24) !== 0)
    throw new Damaged("is encrypted or has no valid head");
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) throw new Damaged("has no page size");
  const lastPage = meta.getUint32(32, littleEndian);
  const page = (number: number): Promise<Uint8Array> => exactly(readAt, number * pageSize, pageSize);
  return { pageSize, littleEndian, lastPage, maxValue, visited: new Visited(), page };
}

/** Items as they stand on the pages of the hash: mostly references to where the content is. */
async function* itemsOf(database: Database, { maxPages, maxEntries }: BerkeleyLimits): AsyncGenerator<Item> {
  const { pageSize, littleEndian, lastPage } = database;
  let entries = 0;
  let kept = 0;
  for (let number = 1; number <= lastPage; number++) {
    if (number > maxPages) throw new Damaged(`has more than ${maxPages} pages`);
    const page = await database.page(number);
    const field = view(page);
    if (!HASH_PAGES.has(field.getUint8(25))) continue;
    const count = field.getUint16(20, littleEndian);
    const offsets = view(part(page, PAGE_HEADER, count * 2));
    // They are laid from the page's end on: each ends where the one before it begins.
    const item = (index: number): Uint8Array => {
      const start = offsets.getUint16(index * 2, littleEndian);
      const end = index === 0 ? pageSize : offsets.getUint16((index - 1) * 2, littleEndian);
      return part(page, start, end - start);
    };
    for (let index = 0; index + 1 < count; index += 2) {
      if (++entries > maxEntries) throw new Damaged(`has more than ${maxEntries} entries`);
      const [key, value] = [item(index).slice(), item(index + 1).slice()];
      kept += key.length + value.length;
      if (kept > MAX_KEPT) throw new Damaged("holds more on the pages of its hash than headers do");
      const refers = value[0] === OFF_PAGE && value.length >= 8;
      yield { key, value, page: refers ? view(value).getUint32(4, littleEndian) : number };
    }
  }
}

/** What an item stands for; null for duplicates, which rpm's packages do not have. */
async function contentOf(database: Database, item: Uint8Array): Promise<Uint8Array | null> {
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
