import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** Shorter ones gain nothing. */
const WORTH = 256;
/** The largest that one may grow to when unpacked. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAGIC = 0xfd2fb528;

/** Room for the result is taken in such pieces at most. */
const PIECE = { least: 1024, most: 1024 * 1024 } as const;

/** Packs bytes where that saves something; `unpack` tells by the first four bytes. */
export function pack(bytes: Uint8Array): Uint8Array {
  if (bytes.length < WORTH && !isPacked(bytes)) return bytes;
  return zstdCompressSync(bytes, {
    chunkSize: pieceFor(bytes.length / 4),
    pledgedSrcSize: bytes.length,
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  });
}

/** `size`: about what comes out, where that is known; bytes. */
export function unpack(bytes: Uint8Array, size: number = bytes.length * 4): Uint8Array {
  if (!isPacked(bytes)) return bytes;
  return zstdDecompressSync(bytes, {
    chunkSize: Math.max(PIECE.least, Math.min(size, MAX_BYTES)),
    maxOutputLength: MAX_BYTES,
  });
}

function pieceFor(size: number): number {
  return Math.max(PIECE.least, Math.min(Math.ceil(size), PIECE.most));
}

function isPacked(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true) === MAGIC;
}
