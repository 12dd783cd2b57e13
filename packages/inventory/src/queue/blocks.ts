/** Bytes that go to the queue's thread and come back: used again, instead of left to a collector that sees only the heap. */
export interface Blocks {
  /** One of at least this size; what is in it means nothing. */
  take(least: number): Uint8Array<ArrayBuffer>;
  give(block: Uint8Array<ArrayBuffer>): void;
}

const LEAST = 16 * 1024;

/** Keeps at most so many, none larger than so many bytes. */
export function createBlocks(most: number, largest: number): Blocks {
  const kept: Uint8Array<ArrayBuffer>[] = [];
  return {
    take: (least) => {
      const index = kept.findIndex(({ length }) => length >= least);
      const [block] = index === -1 ? [] : kept.splice(index, 1);
      return block ?? new Uint8Array(Math.max(LEAST, least));
    },
    give: (block) => {
      if (block.length >= LEAST && block.length <= largest && kept.length < most) kept.push(block);
    },
  };
}
