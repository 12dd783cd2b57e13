import type { Access, Capability, Feature, MetaAccess, NodeInfo, ProblemCode } from "@trawler/plugin-api";

/** What the thread of one crawler is started with; plain data, as everything that crosses. */
export interface ThreadData {
  /** URL of the module whose default export is the plugin. */
  readonly module: string;
  readonly id: string;
  readonly config: unknown;
  readonly node: NodeInfo;
  /** Seconds from this machine's `hrtime` to the host's monotonic clock: each thread's own clock has its own start. */
  readonly monotonicOffset: number;
}

/** An error as it crosses: its code is what the host branches on. */
export interface CrossedError {
  readonly code: string;
  readonly message: string;
}

export type ToThread =
  | {
      readonly type: "call";
      readonly call: number;
      readonly needs: readonly Capability[];
      readonly meta: MetaAccess | null;
      readonly state: readonly (readonly [string, number])[];
      readonly fingerprint: string | null;
      readonly asked: "always" | "match" | "annotation";
      readonly annotation: Readonly<Record<string, unknown>> | null;
    }
  | { readonly type: "abort"; readonly call: number }
  /** The host has taken this many features more. */
  | { readonly type: "taken"; readonly call: number; readonly count: number }
  | { readonly type: "answer"; readonly request: number; readonly value: unknown }
  | { readonly type: "refusal"; readonly request: number; readonly error: CrossedError }
  | { readonly type: "dispose" };

export type FromThread =
  | { readonly type: "ready" }
  | { readonly type: "unready"; readonly error: CrossedError }
  | {
      readonly type: "request";
      readonly request: number;
      readonly call: number;
      readonly capability: Exclude<keyof Access, "net" | "meta">;
      readonly method: string;
      readonly parameters: readonly unknown[];
      readonly options: Readonly<Record<string, unknown>>;
    }
  /** The next batch of a walk that an earlier request began; `over` = the thread wants no more. */
  | {
      readonly type: "walk";
      readonly request: number;
      readonly call: number;
      readonly of: number;
      readonly over: boolean;
    }
  | { readonly type: "feature"; readonly call: number; readonly feature: Feature }
  | { readonly type: "problem"; readonly call: number; readonly code: ProblemCode; readonly message: string }
  | {
      readonly type: "end";
      readonly call: number;
      readonly state: readonly (readonly [string, number])[];
      /** What the crawler asked `unchanged` about; null where it did not. */
      readonly fingerprint: string | null;
      readonly error: CrossedError | null;
    }
  | {
      readonly type: "log";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly fields: object;
      readonly message: string;
    }
  | { readonly type: "disposed" };

/** Features that a thread may be ahead of the host: a crawler that floods waits. */
export const WINDOW = 64;

/** What crosses to and from a process that serves several crawlers, each under a number of its own. */
export type ToProcess = { readonly crawler: number } & (
  | { readonly start: ThreadData }
  | { readonly message: ToThread }
);

export interface FromProcess {
  readonly crawler: number;
  readonly message: FromThread;
}
