export interface LineSplitter<L> {
  /** The lines that this piece completes, without their ends. */
  push(chunk: Uint8Array): L[];
}

/** A line that was longer than the bound: only how it begins is known. */
export interface CutLine {
  readonly head: Buffer;
}

/** Bytes of it. The API server writes identity before the rest; a custom resource's annotations, 256 KiB at most, come first. */
const HEAD = 384 * 1024;

const NEWLINE = 0x0a;
const SPACE = 0x20;

/** Cuts bytes into lines of text wherever the pieces were cut, inside a character too. */
export function lineSplitter(maxBytes: number): LineSplitter<string | null> {
  const lines = byteLines(maxBytes);
  return { push: (chunk) => lines.push(chunk).map((line) => (Buffer.isBuffer(line) ? line.toString("utf8") : null)) };
}

/** Cuts bytes into lines. Of longer ones than the bound the head is kept; blank ones are left out. */
export function byteLines(maxBytes: number): LineSplitter<Buffer | CutLine> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let cut: CutLine | null = null;

  const add = (piece: Uint8Array): void => {
    if (cut !== null || piece.length === 0) return;
    if (size + piece.length > maxBytes) {
      cut = { head: Buffer.concat([...parts, piece], Math.min(size + piece.length, HEAD)) };
      parts = [];
      size = 0;
      return;
    }
    parts.push(piece);
    size += piece.length;
  };

  const take = (): Buffer | CutLine => {
    const line = cut ?? Buffer.concat(parts, size);
    parts = [];
    size = 0;
    cut = null;
    return line;
  };

  return {
    push: (chunk) => {
      const lines: (Buffer | CutLine)[] = [];
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        from = at + 1;
        const line = take();
        if (!Buffer.isBuffer(line) || line.some((byte) => byte > SPACE)) lines.push(line);
      }
      add(chunk.subarray(from));
      return lines;
    },
  };
}
