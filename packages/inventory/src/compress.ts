import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** Shorter ones gain nothing. */
const WORTH = 256;
/** The largest that one may grow to when unpacked. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAGIC = 0xfd2fb528;

/** Packs bytes where that saves something; `unpack` tells by the first four bytes. */
export function pack(bytes: Uint8Array): Uint8Array {
  if (bytes.length < WORTH && !isPacked(bytes)) return bytes;
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

export function unpack(bytes: Uint8Array): Uint8Array {
  return isPacked(bytes) ? zstdDecompressSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes;
}

function isPacked(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true) === MAGIC;
}
