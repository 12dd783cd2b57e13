import type { Output, Schema } from "./schema.ts";

/** Name of the frame's format; within `/1` changes are additive only. */
export const FRAME_SCHEMA = "trawler.frame/1" as const;

/** A map made from foreign keys: its prototype is null. */
export type StringMap = Readonly<Record<string, string>>;
/** Attributes by OpenTelemetry name. */
export type Resource = Readonly<Record<string, string | readonly string[] | null>>;

export type FeatureSchemas = Readonly<Record<string, Schema>>;

/** A flat value: numbers in base units, texts, flags, short lists. Null = not measured, never 0. */
export type FeatureValue = Readonly<Record<string, string | number | bigint | boolean | null | readonly string[]>>;

/** One fact. `F` ties a feature's type to the schema that its crawler declares for it. */
export type Feature<F extends FeatureSchemas = FeatureSchemas> = {
  [T in keyof F & string]: {
    readonly type: T;
    /** Tells instances apart (interface, device, `pid:starttime`, port); equals `type` where there is one. */
    readonly key: string;
    readonly value: Output<F[T]>;
    /** RFC 3339; only where the value is older than the frame (last sample of a container that has ended). */
    readonly observedAt?: string;
  };
}[keyof F & string];

export type ProblemCode =
  | "denied"
  | "timeout"
  | "truncated"
  | "unsupported"
  | "failed"
  | "gone"
  | "busy"
  | "unavailable";

/** What one crawler could not do, and why. `crawler` is null where the mode or the host failed. */
export interface Problem {
  readonly crawler: string | null;
  readonly code: ProblemCode;
  readonly message: string;
  /** How often, where more than once. */
  readonly count?: number;
}

/**
 * What a crawler that works by difference knows of one target: its features stand in the frame where they changed, at
 * first sight, and once in a while; otherwise they are those that were sent last.
 */
export interface FeatureDigest {
  /** Types of the features that it covers. */
  readonly types: readonly string[];
  /** `sha256:…` of all of them: equal digests, equal features. */
  readonly digest: string;
  /** The features differ from what this agent read before; null at first sight. */
  readonly changed: boolean | null;
  /** The features stand in this frame; where they do not, or were cut for their size, they are due again later. */
  readonly included: boolean;
  /** RFC 3339: when they were last read, or found unchanged. */
  readonly observedAt: string;
}

/** By the crawler's name in the configuration. */
export type Digests = Readonly<Record<string, FeatureDigest>>;

export type ContainerType = "app" | "init" | "sidecar" | "ephemeral";

export interface Termination {
  readonly reason: string | null;
  readonly exitCode: number | null;
  /** RFC 3339, or null. */
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export interface ContainerState {
  readonly status: "waiting" | "running" | "paused" | "terminated" | "unknown";
  readonly reason: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly exitCode: number | null;
  /** Restarts as the environment counts them; null where unknown. */
  readonly restarts: number | null;
  readonly lastTermination: Termination | null;
}

/** Desired = specification, current = actual after an in-place resize. CPU in cores, memory in bytes, null = none set. */
export interface ResourcePair {
  readonly requestDesired: number | null;
  readonly requestCurrent: number | null;
  readonly limitDesired: number | null;
  readonly limitCurrent: number | null;
}
export interface ResourceFigures {
  readonly cpu: ResourcePair;
  readonly memory: ResourcePair;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string | null;
  /** RFC 3339 of the last transition, or null. */
  readonly since: string | null;
}

export interface PodStatus {
  readonly phase: string | null;
  readonly reason: string | null;
  readonly qosClass: string | null;
  readonly startTime: string | null;
  readonly resourceVersion: string | null;
  readonly generation: number | null;
  readonly static: boolean;
  readonly hostNetwork: boolean | null;
  readonly ips: readonly string[];
  readonly conditions: readonly Condition[];
}

export type MetadataSource = "cri" | "docker" | "podsApi" | "api" | "kubelet" | "downward" | "environ" | "cache";
export type MetadataGroupName = "identity" | "spec" | "labels" | "annotations" | "status" | "network" | "owner";

export interface MetadataGroup {
  readonly source: MetadataSource;
  /** RFC 3339: when the source said so. */
  readonly observedAt: string;
  /** Group `network` only: the addresses that the API declares, where the observed ones may differ. */
  readonly declared?: readonly string[];
}

/** Where each group of fields comes from and how old it is. An absent group is not known. */
export interface Metadata {
  readonly complete: boolean;
  /** Why it is not complete; null where it is. */
  readonly reason: string | null;
  readonly groups: Readonly<Partial<Record<MetadataGroupName, MetadataGroup>>>;
}

export type FrameReason = "interval" | "started" | "changed" | "ended";

export interface FrameContainer {
  readonly name: string;
  readonly id: string | null;
  readonly image: string;
  readonly digest: string | null;
  readonly type: ContainerType;
  readonly state: ContainerState;
  readonly resource: Resource;
  readonly resources: ResourceFigures | null;
  readonly features: readonly Feature[];
  readonly problems: readonly Problem[];
  /** Absent where no crawler works by difference. */
  readonly digests?: Digests;
}

/** All facts of one subject at one time. The order of the fields is that of the published schema. */
export interface Frame {
  readonly schema: typeof FRAME_SCHEMA;
  /** UUID version 7. */
  readonly id: string;
  /** Present where a large frame was split: all parts carry the same `id`. `index` counts from 0. */
  readonly part?: { readonly index: number; readonly count: number };
  /** Counts the frames of one subject and agent instance from 1: a missing number is a lost frame. */
  readonly sequence: number;
  /** RFC 3339 with milliseconds, UTC. */
  readonly time: string;
  /** Seconds since the previous frame's figures were read, or since the agent first saw the subject. */
  readonly observedFor: number;
  readonly reason: FrameReason;
  /** No further frame follows for this subject. */
  readonly final: boolean;
  readonly agent: { readonly instance: string; readonly version: string };
  readonly kind: "pod" | "container" | "host";
  readonly resource: Resource;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly status: PodStatus | null;
  readonly metadata: Metadata;
  readonly features: readonly Feature[];
  readonly problems: readonly Problem[];
  readonly digests?: Digests;
  readonly containers: readonly FrameContainer[];
}
