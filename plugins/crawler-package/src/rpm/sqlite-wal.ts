import type { ReadAt } from "@trawler/plugin-api";
import { Damaged, view } from "./bytes.ts";

const HEADER = 32;
const FRAME_HEADER = 24;
/** The last bit tells the byte order of the checksums. */
const MAGIC = 0x377f0682;

/**
 * Where the newest committed copy of each page stands in a write-ahead log. A log without a valid head counts as empty;
 * what follows the last commit, or is of an older use of the file, is left out as SQLite does it.
 */
export async function readWal(
  readAt: ReadAt,
  pageSize: number,
  maxBytes: number,
): Promise<ReadonlyMap<number, number>> {
  const committed = new Map<number, number>();
  const header = await readAt(0, HEADER);
  if (header.length < HEADER) return committed;
  const field = view(header);
  const magic = field.getUint32(0);
  if (magic >>> 1 !== MAGIC >>> 1 || field.getUint32(8) !== pageSize) return committed;
  const littleEndian = magic === MAGIC;
  const salt = [field.getUint32(16), field.getUint32(20)];
  let sum = checksum([0, 0], header.subarray(0, 24), littleEndian);
  if (sum[0] !== field.getUint32(24) || sum[1] !== field.getUint32(28)) return committed;
  let pending = new Map<number, number>();
  for (let at = HEADER; ; at += FRAME_HEADER + pageSize) {
    if (at > maxBytes) throw new Damaged(`has a write-ahead log of more than ${maxBytes} bytes`);
    const frame = await readAt(at, FRAME_HEADER + pageSize);
    if (frame.length < FRAME_HEADER + pageSize) return committed;
    const head = view(frame);
    if (head.getUint32(8) !== salt[0] || head.getUint32(12) !== salt[1]) return committed;
    sum = checksum(checksum(sum, frame.subarray(0, 8), littleEndian), frame.subarray(FRAME_HEADER), littleEndian);
    if (sum[0] !== head.getUint32(16) || sum[1] !== head.getUint32(20)) return committed;
    pending.set(head.getUint32(0), at + FRAME_HEADER);
    if (head.getUint32(4) === 0) continue;
    for (const [page, offset] of pending) committed.set(page, offset);
    pending = new Map();
  }
}

type Sum = readonly [number, number];

/** The checksum of section 4.2 of SQLite's file format, over whole pairs of 32-bit words. */
function checksum([first, second]: Sum, bytes: Uint8Array, littleEndian: boolean): Sum {
  const words = view(bytes);
  let a = first;
  let b = second;
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + words.getUint32(at, littleEndian) + b) >>> 0;
    b = (b + words.getUint32(at + 4, littleEndian) + a) >>> 0;
  }
  return [a, b];
}
