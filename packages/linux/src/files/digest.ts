import { createHash } from "node:crypto";
import { fstatSync, readSync } from "node:fs";
import type { DigestAlgorithm, FileDigest } from "@trawler/plugin-api";
import type { Budget } from "./budget.ts";
import { closeQuietly, reopen } from "./descriptor.ts";

const CHUNK = 256 * 1024;

/** Digest of at most `max` bytes of the regular file that an O_PATH descriptor names; memory is one chunk. */
export async function digestContent(
  descriptor: number,
  { algorithm, max }: { readonly algorithm: DigestAlgorithm; readonly max: number },
  budget: Budget,
): Promise<FileDigest> {
  const file = reopen(descriptor, "file");
  try {
    const { size } = fstatSync(file);
    const hash = createHash(algorithm === "md5" ? "md5" : "sha256");
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK, max + 1));
    for (let used = 0; ; ) {
      // One byte more than the cap tells whether there is more.
      const count = readSync(file, buffer, 0, Math.min(buffer.length, max + 1 - used), null);
      if (count === 0) return { digest: hash.digest("hex"), size, truncated: false };
      const wanted = Math.min(count, max - used);
      hash.update(buffer.subarray(0, wanted));
      used += wanted;
      if (wanted < count) return { digest: hash.digest("hex"), size, truncated: true };
      await budget.turn();
    }
  } finally {
    closeQuietly(file);
  }
}
