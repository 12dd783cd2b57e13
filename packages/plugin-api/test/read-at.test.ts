import { expect, test } from "vitest";
import { type FileSystemAccess, fileReader } from "../src/index.ts";

const MEBIBYTE = 1_048_576;
const bytes = Uint8Array.from({ length: 3 * MEBIBYTE + 17 }, (_, index) => (index * 31 + (index >> 8)) % 251);

function counted() {
  let reads = 0;
  const read: FileSystemAccess["read"] = async (_, { offset = 0, maxBytes = MEBIBYTE } = {}) => {
    reads++;
    return { bytes: bytes.subarray(offset, offset + maxBytes), size: bytes.length, truncated: false };
  };
  return { fs: { read }, reads: () => reads };
}

test("any part is what stands there, across chunks and up to the end", async () => {
  const readAt = fileReader(counted().fs, "/x", { maxBytes: 64 * MEBIBYTE });
  for (const [offset, length] of [
    [0, 10],
    [131_070, 5],
    [100, 500_000],
    [3 * MEBIBYTE, 100],
    [bytes.length, 5],
    [2 ** 40, 5],
    [7, 0],
  ] as const) {
    expect(Buffer.compare(await readAt(offset, length), bytes.subarray(offset, offset + length))).toBe(0);
  }
});

test("neighbours are read once, and no more than allowed", async () => {
  const { fs, reads } = counted();
  const readAt = fileReader(fs, "/x", { maxBytes: MEBIBYTE });
  for (let offset = 0; offset < 100_000; offset += 100) await readAt(offset, 100);
  expect(reads()).toBe(1);
  await expect(readAt(0, 8 * MEBIBYTE)).resolves.toHaveLength(MEBIBYTE);
  await expect(readAt(2 * MEBIBYTE, MEBIBYTE)).rejects.toMatchObject({ code: "TRAWLER_LIMIT" });
});

test("an abort ends it", async () => {
  const controller = new AbortController();
  const readAt = fileReader(counted().fs, "/x", { maxBytes: MEBIBYTE, signal: controller.signal });
  controller.abort(new Error("stopped"));
  await expect(readAt(0, 1)).rejects.toThrow("stopped");
});
