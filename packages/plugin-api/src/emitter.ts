import type { FrameReason } from "./frame.ts";
import type { CallContext, Common } from "./plugin.ts";
import type { Schema } from "./schema.ts";

/** One frame (or one part of a split one), encoded once for all emitters. */
export interface Envelope {
  /** Unique per envelope: the frame's id, with `#index` where it is a part. */
  readonly id: string;
  readonly frameId: string;
  /** Pod UID, container id or host id. */
  readonly key: string;
  readonly schema: string;
  readonly reason: FrameReason;
  readonly node: string;
  /** Readable name of the subject, for logs. */
  readonly name: string;
  /** The frame as UTF-8 JSON without a line end. */
  readonly bytes: Uint8Array;
}

/** Nothing listed = all safe. `retry`: ids to send again; `rejected`: never accepted, counted as lost by `code`. */
export interface WriteResult {
  readonly rejected?: readonly { readonly id: string; readonly code: string; readonly message: string }[];
  readonly retry?: readonly string[];
}

export interface EmitterPlugin<C extends Schema = Schema> extends Common<"emitter", C, Emitter> {}
export interface Emitter {
  /** Largest envelope that it takes, bytes; the host shrinks or splits beyond it. Absent = no limit. */
  readonly maxBytes?: number;
  /** Bytes as `maxBytes` counts them, where that is not the plain length (after compression). Asked only beyond it. */
  sizeOf?(bytes: Uint8Array): number;
  /**
   * Resolves once the batch is safe. The host batches, keeps the order per key, retries what is named in `retry` or
   * the whole batch on TRAWLER_RETRY and TRAWLER_UNAVAILABLE, and never calls it twice at once.
   */
  write(envelopes: readonly Envelope[], context: CallContext): Promise<WriteResult | undefined>;
}
