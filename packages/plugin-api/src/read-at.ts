import { TrawlerError } from "./errors.ts";
import type { FileSystemAccess, ReadOptions } from "./files.ts";

/** Bytes of a file by position; fewer where the file ends. */
export type ReadAt = (offset: number, length: number) => Promise<Uint8Array>;

const CHUNK = 131_072;
/** Two megabytes: what is read next mostly stands near. */
const KEPT = 16;

/**
 * Reads a large file by position, in chunks of which a few are kept. Each chunk gives others their turn; throws
 * TRAWLER_LIMIT where more than `maxBytes` would have to be read in all.
 */
export function fileReader(
  fs: Pick<FileSystemAccess, "read">,
  path: string,
  options: ReadOptions & { readonly maxBytes: number },
): ReadAt {
  const { maxBytes, ...rest } = options;
  const kept = new Map<number, Uint8Array>();
  let left = maxBytes;
  const chunk = async (index: number): Promise<Uint8Array> => {
    const known = kept.get(index);
    if (known) return known;
    await new Promise((resolve) => setImmediate(resolve));
    options.signal?.throwIfAborted();
    left -= CHUNK;
    // The last chunk may be read to its end.
    if (left <= -CHUNK) throw new TrawlerError("TRAWLER_LIMIT", `${path}: more than ${maxBytes} bytes to read`);
    const { bytes } = await fs.read(path, { ...rest, offset: index * CHUNK, maxBytes: CHUNK });
    const [oldest] = kept.keys();
    if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(index, bytes);
    return bytes;
  };
  return async (offset, length) => {
    const whole = new Uint8Array(Math.min(length, maxBytes));
    let used = 0;
    while (used < whole.length) {
      const at = offset + used;
      const wanted = Math.min(CHUNK - (at % CHUNK), whole.length - used);
      const found = (await chunk(Math.floor(at / CHUNK))).subarray(at % CHUNK, (at % CHUNK) + wanted);
      whole.set(found, used);
      used += found.length;
      if (found.length < wanted) break;
    }
    return whole.subarray(0, used);
  };
}
