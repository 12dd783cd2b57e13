import type { InventoryEvent } from "../events.ts";
import type { Blocks } from "./blocks.ts";
import { encodeHead, sizeOf } from "./codec.ts";

/** Events that are committed together, as they cross to the queue's thread. */
export interface Group {
  readonly heads: string[];
  readonly lengths: number[];
  /** The payloads, one after another; the rest of it is free. */
  readonly block: Uint8Array<ArrayBuffer>;
  /** Bytes that the events count for while they wait. */
  readonly size: number;
  add(event: InventoryEvent): void;
}

export function createGroup(blocks: Blocks): Group {
  const heads: string[] = [];
  const lengths: number[] = [];
  let block = blocks.take(0);
  let used = 0;
  let size = 0;
  return {
    heads,
    lengths,
    get block() {
      return block;
    },
    get size() {
      return size;
    },
    add: (event) => {
      const payload = "payload" in event ? event.payload : null;
      const length = payload?.length ?? 0;
      if (payload !== null) {
        if (used + length > block.length) {
          const larger = blocks.take(Math.max(used + length, block.length * 2));
          larger.set(block.subarray(0, used));
          blocks.give(block);
          block = larger;
        }
        block.set(payload, used);
      }
      used += length;
      heads.push(encodeHead(event));
      lengths.push(length);
      size += sizeOf(event);
    },
  };
}
