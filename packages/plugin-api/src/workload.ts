import type {
  ContainerState,
  ContainerType,
  Metadata,
  PodStatus,
  Resource,
  ResourceFigures,
  StringMap,
} from "./frame.ts";
import type { ContainerInspection, ImageInspection } from "./inspection.ts";

/** What an environment can report, and what one frame is about. */
export type WorkloadKind = "pod" | "container" | "host";

/** Ways to reach a running thing. An environment says which it reports, a mode says which it requires. */
export interface Handle {
  /** The first process, as the node's pid namespace numbers it; absent where nothing runs. Never 0. */
  readonly pid: number;
  /** The runtime's full container id. */
  readonly containerId: string;
  readonly podUid: string;
  /** Path below the cgroup root (`/kubepods/burstable/pod…`); a hint that the mode verifies. */
  readonly cgroup: string;
}

export type HandleField = keyof Handle;

/** One member of a workload: a container of a pod, never its sandbox. */
export interface Container {
  readonly name: string;
  /** The runtime's id; null while the API declares a container that the runtime does not have. */
  readonly id: string | null;
  /** The image as the user wrote it. */
  readonly image: string;
  /** The image's digest, `sha256:…`; null where unknown. */
  readonly digest: string | null;
  readonly type: ContainerType;
  readonly state: ContainerState;
  readonly resource: Resource;
  /** Requests and limits; null where the specification is not known. */
  readonly resources: ResourceFigures | null;
  readonly handle: Partial<Handle>;
  /** What the runtime was told to run it with; absent where the environment can't know. No frame holds it by itself. */
  readonly inspection?: ContainerInspection;
  /** What the runtime says of its image; absent where the environment can't know. No frame holds it by itself. */
  readonly imageInspection?: ImageInspection;
}

/** The owner of a pod's namespaces (the pause container). It is never a member. */
export interface Sandbox {
  readonly id: string;
  readonly handle: Partial<Handle>;
  /** The network namespace is the node's: counters there are not the pod's. */
  readonly hostNetwork: boolean;
}

/**
 * Something that can be crawled, with all that is known of it at one time. A value: an environment reports a change by
 * a whole new workload, and the host finds out what differs.
 */
export interface Workload {
  readonly kind: WorkloadKind;
  /** Pod UID, container id or host id. Key of everything: never a name. */
  readonly id: string;
  /** Unique and readable inside the environment: `shop/cart-0`, `web`, `node-a`. */
  readonly name: string;
  /** `waiting`: nothing runs yet; `running`: at least one container runs or will again; `ended`: none ever will. */
  readonly lifecycle: "waiting" | "running" | "ended";
  readonly handle: Partial<Handle>;
  readonly sandbox: Sandbox | null;
  readonly containers: readonly Container[];
  readonly resource: Resource;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** Null where the environment has no such notion (host). */
  readonly status: PodStatus | null;
  readonly metadata: Metadata;
}

export type WorkloadEvent =
  | { readonly type: "added"; readonly workload: Workload }
  | { readonly type: "updated"; readonly workload: Workload }
  /**
   * The workload and its record have gone; `workload` holds its last state. `unselected`: it lives on, and the settings
   * no longer want it, so no end is written; it may be `added` again.
   */
  | { readonly type: "removed"; readonly workload: Workload; readonly unselected?: true }
  /** Every workload that existed when discovery began has been reported. Exactly once per `discover`. */
  | { readonly type: "synced" };
