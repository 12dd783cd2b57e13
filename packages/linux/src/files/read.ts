import { fstatSync, readSync } from "node:fs";
import type { FileContent } from "@trawler/plugin-api";
import type { Budget } from "./budget.ts";
import { closeQuietly, reopen } from "./descriptor.ts";

const FIRST = 64 * 1024;
const CHUNK = 256 * 1024;

/**
 * Reads at most `max` bytes from `offset` on of the regular file that an O_PATH descriptor names. Memory follows what is
 * there, not what the size claims.
 */
export async function readContent(
  descriptor: number,
  { offset, max }: { readonly offset: number; readonly max: number },
  budget: Budget,
): Promise<FileContent> {
  const file = reopen(descriptor, "file");
  try {
    const { size } = fstatSync(file);
    // One byte more than asked for tells whether there is more.
    const bound = max + 1;
    let buffer = Buffer.allocUnsafeSlow(Math.min(bound, Math.max(size - offset + 1, 512), FIRST));
    let used = 0;
    for (;;) {
      if (used === buffer.length) {
        if (used === bound) break;
        const grown = Buffer.allocUnsafeSlow(Math.min(bound, buffer.length * 2));
        buffer.copy(grown, 0, 0, used);
        buffer = grown;
      }
      const count = readSync(file, buffer, used, Math.min(buffer.length - used, CHUNK), offset + used);
      if (count === 0) break;
      used += count;
      await budget.turn();
    }
    const truncated = used > max;
    return { bytes: new Uint8Array(buffer.subarray(0, truncated ? max : used)), size, truncated };
  } finally {
    closeQuietly(file);
  }
}
