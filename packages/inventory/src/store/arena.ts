/** Room for the texts of one batch in UTF-8, used again by the next: what each would take lives on until the heap is collected. */
export interface Arena {
  /** The bytes stay until `reset`. */
  encode(text: string): Uint8Array;
  reset(): void;
}

const CHUNK = 1024 * 1024;
/** Chunks that are kept for the next batch. */
const KEPT = 8;
/** Bytes of UTF-8 that one unit of a string takes at most. */
const WIDEST = 3;

export function createArena(): Arena {
  const encoder = new TextEncoder();
  const chunks: Uint8Array[] = [];
  let index = 0;
  let used = 0;
  return {
    encode: (text) => {
      const most = text.length * WIDEST;
      if (most > CHUNK) return encoder.encode(text);
      if (used + most > CHUNK) {
        index += 1;
        used = 0;
      }
      const chunk = chunks[index] ?? new Uint8Array(CHUNK);
      chunks[index] = chunk;
      const from = used;
      used += encoder.encodeInto(text, chunk.subarray(from)).written;
      return chunk.subarray(from, used);
    },
    reset: () => {
      chunks.splice(KEPT);
      index = 0;
      used = 0;
    },
  };
}
