import type {
  Clock,
  Crawler,
  CrawlerPlugin,
  Emitter,
  Environment,
  EnvironmentPlugin,
  FrameReason,
  Logger,
  Mode,
  ModePlugin,
  NodeInfo,
  ProblemCode,
} from "@trawler/plugin-api";

/** A plugin's definition together with the instance that its configuration made. */
export interface Instance<P, I> {
  /** Key in the configuration: `kafka/main`, `redis`. */
  readonly id: string;
  readonly plugin: P;
  readonly instance: I & Partial<AsyncDisposable>;
}

export interface CrawlerInstance extends Instance<CrawlerPlugin, Crawler> {
  /** Seconds between two calls on one subject; absent = every frame. */
  readonly every?: number;
  /** Of one that works by difference: seconds after which its whole value is due again; absent = the plugin's own. */
  readonly refresh?: number;
  /** Milliseconds a call may take. */
  readonly timeout: number;
  /** Named by the user: then `unsupported` is worth a problem. */
  readonly named: boolean;
}

export interface EmitterInstance extends Instance<{ readonly kind: "emitter"; readonly name: string }, Emitter> {
  /** Bound of this emitter's queue. */
  readonly queue: { readonly bytes: number; readonly frames: number };
}

/** What the host counts; the composition root answers with Prometheus, a test with an array. */
export interface EngineMetrics {
  crawlDuration(crawler: string, seconds: number): void;
  problem(crawler: string | null, code: ProblemCode): void;
  frame(reason: FrameReason, emitter: string, result: "sent" | "retried" | "rejected"): void;
  framesLost(reason: string, count: number): void;
  slotsSkipped(count: number): void;
  /** Subjects now, envelopes and bytes queued now. */
  gauge(
    name: "subjects" | "queue_frames" | "queue_bytes" | "stuck",
    labels: Readonly<Record<string, string>>,
    value: number,
  ): void;
}

/** All that one pipeline is made of: the composition root makes it, the engine runs it. */
export interface PipelineOptions {
  readonly id: string;
  readonly environment: Instance<EnvironmentPlugin, Environment>;
  readonly mode: Instance<ModePlugin, Mode>;
  readonly crawlers: readonly CrawlerInstance[];
  readonly emitters: readonly EmitterInstance[];
  /** Seconds between slots; at least 1. */
  readonly every: number;
  /** Subjects crawled at the same time. */
  readonly concurrency: number;
  /** Seconds that a stop waits for queued frames. */
  readonly flushTimeout: number;
  readonly node: NodeInfo;
  readonly agent: { readonly instance: string; readonly version: string };
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: EngineMetrics;
}
