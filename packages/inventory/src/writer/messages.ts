import type { Retention } from "../store/store.ts";
import type { StoreTarget } from "../store/target.ts";
import type { WriterStatus } from "../writer.ts";

/** What crosses between the writer's thread and the one that owns it. */

export interface WriterThreadData {
  readonly queueFile: string;
  readonly queue: string;
  readonly store: StoreTarget;
  readonly cluster: string;
  readonly token: number;
  readonly flushMilliseconds: number;
  readonly flushEvents: number;
  readonly flushBytes: number;
  readonly retention: Retention | null;
}

export type ToWriterThread =
  | { readonly type: "durable" | "flush"; readonly sequence: number }
  | { readonly type: "close" };

export type FromWriterThread =
  | { readonly type: "status"; readonly status: WriterStatus }
  | { readonly type: "refused"; readonly code: string | null; readonly message: string }
  | { readonly type: "closed" };
