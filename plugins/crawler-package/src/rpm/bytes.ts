import type { ReadAt } from "@trawler/plugin-api";

/** A database that contradicts itself: cut off, overwritten, or made to mislead. What was read before it counts. */
export class Damaged extends Error {}

/** Exactly these bytes, or `Damaged`. */
export async function exactly(readAt: ReadAt, offset: number, length: number): Promise<Uint8Array> {
  const found = await readAt(offset, length);
  if (found.length !== length) throw new Damaged(`ends before byte ${offset + length}`);
  return found;
}

export function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Part of some bytes, or `Damaged` where they do not hold it. */
export function part(bytes: Uint8Array, start: number, length: number): Uint8Array {
  if (start < 0 || length < 0 || start + length > bytes.length) throw new Damaged("points beyond its page");
  return bytes.subarray(start, start + length);
}

/** Pages that a reading has been on: none is met twice, so that no loop has to be waited for. */
export class Visited {
  readonly #pages = new Set<number>();

  visit(page: number): void {
    if (this.#pages.has(page)) throw new Damaged(`page ${page} is met twice`);
    this.#pages.add(page);
  }
}
