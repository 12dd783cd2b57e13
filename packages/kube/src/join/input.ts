import type { StringMap, Workload } from "@trawler/plugin-api";
import type { OwnerFacts } from "../owners/facts.ts";
import type { PodRecord } from "../pods/record.ts";
import type { RuntimePod } from "./runtime.ts";

/** A pod's record and when it arrived (RFC 3339). */
export interface SeenRecord {
  readonly record: PodRecord;
  readonly observedAt: string;
  /** The source said that the pod has been deleted; this is its final state. */
  readonly deleted?: boolean;
}

/** All that the sources say of one pod at one time. Null = the source says nothing of it. */
export interface JoinInput {
  readonly cluster: string;
  readonly node: string;
  readonly runtime: RuntimePod | null;
  /** The runtime's socket does not answer: `runtime` is the last that it said. */
  readonly runtimeAway: boolean;
  /** From the API server's watch; the mirror pod of a static one. */
  readonly api: SeenRecord | null;
  /** Why the API server's state is not current, and since when (RFC 3339); null = it is. */
  readonly apiAway: { readonly since: string; readonly reason: string } | null;
  /** From the kubelet's Pods API. */
  readonly kubelet: SeenRecord | null;
  /** The pod's own downward API files. */
  readonly downward: {
    readonly labels: StringMap | null;
    readonly annotations: StringMap | null;
    readonly observedAt: string;
  } | null;
  /** Null = not asked. */
  readonly owner: OwnerFacts | null;
  /** What was joined last for the same pod; holds what a source that has gone silent said. */
  readonly previous: Workload | null;
}
