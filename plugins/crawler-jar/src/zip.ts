import type { ReadAt } from "@trawler/plugin-api";

/** One entry of an archive, as its central directory says. Sizes in bytes; the archive may lie. */
export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly encrypted: boolean;
  readonly compressedSize: number;
  /** Where its local header stands in the file. */
  readonly offset: number;
}

export interface ZipDirectory {
  /** In the order of the archive. */
  readonly entries: readonly ZipEntry[];
  /** It has more entries, or a larger directory, than is read. */
  readonly truncated: boolean;
}

/** An archive that contradicts itself, or is none. */
export class Damaged extends Error {}

// PKWARE's APPNOTE: signatures and the fixed part of each record.
const END = 0x06054b50;
const END_SIZE = 22;
const END64_LOCATOR = 0x07064b50;
const END64_LOCATOR_SIZE = 20;
const END64 = 0x06064b50;
const END64_SIZE = 56;
const CENTRAL = 0x02014b50;
const CENTRAL_SIZE = 46;
const LOCAL = 0x04034b50;
const LOCAL_SIZE = 30;
const MAX_COMMENT = 65_535;
const WIDE = 0xffffffff;
const WIDE_FIELD = 1;

/** Reads the central directory of a zip archive of `size` bytes, at most `maxEntries` and `maxDirectory` bytes of it. */
export async function readDirectory(
  readAt: ReadAt,
  size: number,
  { maxEntries, maxDirectory }: { readonly maxEntries: number; readonly maxDirectory: number },
): Promise<ZipDirectory> {
  const { at, length, count, shift } = await findDirectory(readAt, size);
  const bytes = await readAt(at, Math.min(length, maxDirectory));
  const field = view(bytes);
  const entries: ZipEntry[] = [];
  for (let next = 0; entries.length < count; ) {
    if (entries.length === maxEntries) return { entries, truncated: true };
    if (next + CENTRAL_SIZE > bytes.length) return { entries, truncated: length > maxDirectory || damaged() };
    if (field.getUint32(next, true) !== CENTRAL) throw new Damaged("its directory is damaged");
    const name = field.getUint16(next + 28, true);
    const extra = field.getUint16(next + 30, true);
    const comment = field.getUint16(next + 32, true);
    const start = next + CENTRAL_SIZE;
    const extras = bytes.subarray(start + name, start + name + extra);
    entries.push({
      name: new TextDecoder().decode(bytes.subarray(start, start + name)),
      method: field.getUint16(next + 10, true),
      encrypted: (field.getUint16(next + 8, true) & 1) === 1,
      ...places(field, next, extras, shift),
    });
    next = start + name + extra + comment;
  }
  return { entries, truncated: false };
}

function damaged(): never {
  throw new Damaged("its directory is cut off");
}

/** The bytes of an entry as they are stored, or `Damaged`. */
export async function readStored(readAt: ReadAt, { offset, compressedSize }: ZipEntry): Promise<Uint8Array> {
  const header = await readAt(offset, LOCAL_SIZE);
  if (header.length < LOCAL_SIZE || view(header).getUint32(0, true) !== LOCAL) throw new Damaged("an entry is missing");
  const start = offset + LOCAL_SIZE + view(header).getUint16(26, true) + view(header).getUint16(28, true);
  const bytes = await readAt(start, compressedSize);
  if (bytes.length < compressedSize) throw new Damaged("an entry is cut off");
  return bytes;
}

interface Directory {
  readonly at: number;
  readonly length: number;
  readonly count: number;
  /** By how much all offsets are off: bytes that were put before the archive, such as a script that starts it. */
  readonly shift: number;
}

async function findDirectory(readAt: ReadAt, size: number): Promise<Directory> {
  const from = Math.max(size - END_SIZE - MAX_COMMENT, 0);
  const tail = await readAt(from, size - from);
  const field = view(tail);
  for (let at = tail.length - END_SIZE; at >= 0; at--) {
    if (field.getUint32(at, true) !== END || at + END_SIZE + field.getUint16(at + 20, true) !== tail.length) continue;
    const length = field.getUint32(at + 12, true);
    const offset = field.getUint32(at + 16, true);
    const count = field.getUint16(at + 10, true);
    const end = from + at;
    if (count === 0xffff || length === WIDE || offset === WIDE) {
      const wide = await findWideDirectory(readAt, end);
      if (wide) return wide;
    }
    return placed(end, length, offset, count);
  }
  throw new Damaged("it is no zip archive");
}

/** Null where an archive has exactly so many entries and no wide record. */
async function findWideDirectory(readAt: ReadAt, end: number): Promise<Directory | null> {
  const at = end - END64_LOCATOR_SIZE - END64_SIZE;
  if (at < 0) return null;
  const bytes = await readAt(at, END64_SIZE + END64_LOCATOR_SIZE);
  if (bytes.length < END64_SIZE + END64_LOCATOR_SIZE) return null;
  const field = view(bytes);
  // The record of the usual size stands right before its locator.
  if (field.getUint32(END64_SIZE, true) !== END64_LOCATOR || field.getUint32(0, true) !== END64) return null;
  const number = (offset: number): number => Number(field.getBigUint64(offset, true));
  return placed(at, number(40), number(48), number(32));
}

function placed(end: number, length: number, offset: number, count: number): Directory {
  const at = end - length;
  if (at < offset) throw new Damaged("its directory is not where it says");
  return { at, length, count, shift: at - offset };
}

function places(field: DataView, at: number, extras: Uint8Array, shift: number) {
  let compressedSize = field.getUint32(at + 20, true);
  let offset = field.getUint32(at + 42, true);
  if (compressedSize === WIDE || offset === WIDE) {
    const wide = wideNumbers(extras);
    // Only those numbers stand there that have no room in the record, in this order.
    if (field.getUint32(at + 24, true) === WIDE) wide.shift();
    if (compressedSize === WIDE) compressedSize = wide.shift() ?? compressedSize;
    if (offset === WIDE) offset = wide.shift() ?? offset;
  }
  return { compressedSize, offset: offset + shift };
}

function wideNumbers(extras: Uint8Array): number[] {
  const field = view(extras);
  for (let at = 0; at + 4 <= extras.length; ) {
    const length = field.getUint16(at + 2, true);
    if (field.getUint16(at, true) === WIDE_FIELD) {
      const count = Math.floor(Math.min(length, extras.length - at - 4) / 8);
      return Array.from({ length: count }, (_, index) => Number(field.getBigUint64(at + 4 + index * 8, true)));
    }
    at += 4 + length;
  }
  return [];
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
