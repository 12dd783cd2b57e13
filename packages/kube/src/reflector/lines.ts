export interface LineSplitter {
  /** The lines that this piece completes, without their ends. Null stands for one that was longer than the bound. */
  push(chunk: Uint8Array): (string | null)[];
}

const NEWLINE = 0x0a;

/** Cuts bytes into lines wherever the pieces were cut, inside a character too. Longer lines are skipped, not kept. */
export function lineSplitter(maxBytes: number): LineSplitter {
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

  const take = (): string | null => {
    const line = skipping ? null : Buffer.concat(parts, size).toString("utf8");
    parts = [];
    size = 0;
    skipping = false;
    return line;
  };

  return {
    push: (chunk) => {
      const lines: (string | null)[] = [];
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        from = at + 1;
        const line = take();
        if (line === null || line.trim() !== "") lines.push(line);
      }
      add(chunk.subarray(from));
      return lines;
    },
  };
}
