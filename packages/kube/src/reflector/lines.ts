export interface LineSplitter<L> {
  /** The lines that this piece completes, without their ends. Null stands for one that was longer than the bound. */
  push(chunk: Uint8Array): (L | null)[];
}

const NEWLINE = 0x0a;
const SPACE = 0x20;

/** Cuts bytes into lines of text wherever the pieces were cut, inside a character too. */
export function lineSplitter(maxBytes: number): LineSplitter<string> {
  const lines = byteLines(maxBytes);
  return { push: (chunk) => lines.push(chunk).map((line) => line?.toString("utf8") ?? null) };
}

/** Cuts bytes into lines. Longer ones than the bound are skipped, not kept; blank ones are left out. */
export function byteLines(maxBytes: number): LineSplitter<Buffer> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let skipping = false;

  const add = (piece: Uint8Array): void => {
    if (skipping || piece.length === 0) return;
    if (size + piece.length > maxBytes) {
      skipping = true;
      parts = [];
      size = 0;
      return;
    }
    parts.push(piece);
    size += piece.length;
  };

  const take = (): Buffer | null => {
    const line = skipping ? null : Buffer.concat(parts, size);
    parts = [];
    size = 0;
    skipping = false;
    return line;
  };

  return {
    push: (chunk) => {
      const lines: (Buffer | null)[] = [];
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        from = at + 1;
        const line = take();
        if (line === null || line.some((byte) => byte > SPACE)) lines.push(line);
      }
      add(chunk.subarray(from));
      return lines;
    },
  };
}
