/** What crosses between the queue's thread and the one that owns it. */

export interface QueueThreadData {
  readonly file: string;
  readonly maxBytes: number;
}

export type ToQueueThread =
  | {
      readonly type: "append";
      readonly heads: readonly string[];
      /** Lengths of the payloads, which stand one after another in `block`. */
      readonly lengths: readonly number[];
      readonly block: Uint8Array<ArrayBuffer>;
    }
  | { readonly type: "release"; readonly sequence: number }
  | { readonly type: "close" };

export type FromQueueThread =
  | { readonly type: "opened"; readonly identity: string; readonly durable: number; readonly released: number }
  | { readonly type: "refused"; readonly message: string }
  /** Answers the oldest open append, and gives its block back. */
  | {
      readonly type: "durable";
      readonly sequence: number;
      readonly fileBytes: number;
      readonly block: Uint8Array<ArrayBuffer>;
    }
  /** A part of the oldest open append is durable: there was no room for all of it. */
  | { readonly type: "partial"; readonly sequence: number; readonly fileBytes: number }
  | { readonly type: "released"; readonly sequence: number; readonly fileBytes: number }
  /** So many intermediate states were dropped, as there was no room for what came. */
  | { readonly type: "compacted"; readonly dropped: number; readonly fileBytes: number }
  | { readonly type: "fault"; readonly message: string | null }
  | { readonly type: "closed" };
