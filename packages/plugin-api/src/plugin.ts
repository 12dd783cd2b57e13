import type { Access, Capability } from "./access.ts";
import type { CrawlerPlugin } from "./crawler.ts";
import type { EmitterPlugin } from "./emitter.ts";
import type { Output, Schema } from "./schema.ts";
import type { HandleField, Workload, WorkloadEvent, WorkloadKind } from "./workload.ts";

/** Major version of this contract; the host accepts plugins stamped with a version that it knows. */
export const API_VERSION = 1 as const;

export type PluginKind = "environment" | "mode" | "crawler" | "emitter";

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface Clock {
  /** Wall clock, milliseconds since the epoch; may jump. */
  now(): number;
  /** Seconds, never goes back; for rates and ages. */
  monotonic(): number;
}

/** Where the agent runs and where it finds the node's files. */
export interface NodeInfo {
  readonly name: string;
  readonly cluster: string;
  /** Folders of the node as this process sees them, e.g. `/host/proc`. */
  readonly paths: { readonly root: string; readonly proc: string; readonly cgroup: string };
}

/** What a plugin is given when it is created: with the context of each call, its whole world. */
export interface PluginHost {
  /** The instance's name in the configuration, such as `kafka/audit`. */
  readonly id: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly node: NodeInfo;
  /** Aborts when the instance is being closed. */
  readonly signal: AbortSignal;
}

/** What every call into a plugin is given. */
export interface CallContext {
  /** Aborts at the call's deadline or when the host stops. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** What all four kinds share. `create` may connect; disposing must be safe twice and while a call runs. */
export interface Common<K extends PluginKind, C extends Schema, I> {
  readonly kind: K;
  /** Kebab-case, unique within its kind; its key in a configuration file. */
  readonly name: string;
  /** One sentence with a full stop. */
  readonly description: string;
  /** Strict object schema: every setting described, unknown ones refused, secrets marked `x-secret`. */
  readonly config: C;
  create(config: Output<C>, host: PluginHost): (I & Partial<AsyncDisposable>) | Promise<I & Partial<AsyncDisposable>>;
}

export interface EnvironmentPlugin<C extends Schema = Schema> extends Common<"environment", C, Environment> {
  readonly kinds: readonly WorkloadKind[];
  readonly reports: readonly HandleField[];
  /** Says quickly, without side effects, whether this environment is present: used where none is configured. */
  detect?(
    config: Output<C>,
    host: PluginHost,
    context: CallContext,
  ): Promise<{ readonly found: boolean; readonly detail: string }>;
}
export interface Environment {
  /**
   * Reports workloads until the signal aborts; ends by itself only where nothing can change. A throw of
   * TRAWLER_RETRY or TRAWLER_UNAVAILABLE makes the host call it again with backoff; it then reports all anew, and the
   * host finds what has gone meanwhile at `synced`.
   */
  discover(context: CallContext): AsyncIterable<WorkloadEvent>;
  /** One line for the plan: what it found and took, such as `containerd at /run/… ; API server as …`. */
  describe?(): string;
}

export interface ModePlugin<C extends Schema = Schema> extends Common<"mode", C, Mode> {
  readonly accepts: readonly WorkloadKind[];
  readonly requires: readonly HandleField[];
  /** Capabilities at both levels. No `member` capability = subjects have no members; everything runs on the subject. */
  readonly provides: { readonly subject: readonly Capability[]; readonly member: readonly Capability[] };
}
export interface Mode {
  /** The subjects that one workload makes; absent = the workload itself is the one subject. Pure. */
  subjects?(workload: Workload): readonly Workload[];
  /** Opens access to a subject. Members that run are opened; those that do not are left out. */
  open(workload: Workload, context: CallContext): Promise<Subject>;
}
/** Open access to one subject, kept (with its descriptors) from one crawl to the next. */
export interface Subject extends AsyncDisposable {
  readonly access: Partial<Access>;
  /** By container id. */
  readonly members: ReadonlyMap<string, Partial<Access>>;
  /** Follows a change: opens members that began, closes those that ended. */
  update(workload: Workload, context: CallContext): Promise<void>;
}

export type Plugin = EnvironmentPlugin | ModePlugin | CrawlerPlugin | EmitterPlugin;
