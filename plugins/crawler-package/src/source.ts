import { setImmediate } from "node:timers/promises";
import { type FileSystemAccess, type ReadOptions, TrawlerError } from "@trawler/plugin-api";
import type { ReadAt } from "./rpm/bytes.ts";

const CHUNK = 131_072;
/** Two megabytes: pages of one row are mostly neighbours. */
const KEPT = 16;

/**
 * Reads a file by position, in chunks of which a few are kept. Each chunk gives others their turn; more than `maxBytes`
 * in all is TRAWLER_LIMIT.
 */
export function chunked(fs: FileSystemAccess, path: string, maxBytes: number, options: ReadOptions): ReadAt {
  const kept = new Map<number, Uint8Array>();
  let left = maxBytes;
  const chunk = async (index: number): Promise<Uint8Array> => {
    const known = kept.get(index);
    if (known) return known;
    await setImmediate();
    options.signal?.throwIfAborted();
    left -= CHUNK;
    if (left < 0) throw new TrawlerError("TRAWLER_LIMIT", `${path}: more than ${maxBytes} bytes would have to be read`);
    const { bytes } = await fs.read(path, { ...options, offset: index * CHUNK, maxBytes: CHUNK });
    const [oldest] = kept.keys();
    if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(index, bytes);
    return bytes;
  };
  return async (offset, length) => {
    const parts: Uint8Array[] = [];
    for (let at = offset; at < offset + length; ) {
      const start = at % CHUNK;
      const wanted = Math.min(CHUNK - start, offset + length - at);
      const found = (await chunk(Math.floor(at / CHUNK))).subarray(start, start + wanted);
      parts.push(found);
      if (found.length < wanted) break;
      at += wanted;
    }
    const [first] = parts;
    return first && parts.length === 1 ? first : Buffer.concat(parts);
  };
}
