import type { Condition, ContainerType, ResourcePair, StringMap, Termination } from "@trawler/plugin-api";

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: boolean;
}

export interface ContainerSpec {
  readonly name: string;
  readonly type: ContainerType;
  readonly image: string;
  /** CPU in cores, memory in bytes; `*Current` is the actual value after an in-place resize. */
  readonly cpu: ResourcePair;
  readonly memory: ResourcePair;
  /** Names of environment variables that the downward API fills, to the field they hold (`metadata.name`). */
  readonly environment: StringMap;
}

export interface ContainerStatus {
  readonly name: string;
  /** The runtime's id without its scheme; null where there is none yet. */
  readonly id: string | null;
  /** `containerd`, `cri-o`, `docker`: the scheme of the id. */
  readonly runtimeName: string | null;
  /** `sha256:…` of the image, or null. */
  readonly digest: string | null;
  readonly image: string | null;
  readonly status: "waiting" | "running" | "terminated";
  readonly reason: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly exitCode: number | null;
  readonly restarts: number;
  readonly ready: boolean;
  readonly lastTermination: Termination | null;
  /** The last termination's container, without scheme. */
  readonly lastId: string | null;
}

/** A file of a downward API volume: `path` below the volume, and the field it holds. */
export interface DownwardItem {
  readonly volume: string;
  readonly projected: boolean;
  readonly path: string;
  readonly field: string;
}

/** What is kept of a v1.Pod: lean, typed, bounded. Absent = null, never an empty string. */
export interface PodRecord {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string | null;
  readonly generation: number | null;
  readonly createdAt: string | null;
  readonly deletedAt: string | null;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** Keys that the caps cut or dropped (labels and annotations together). */
  readonly cut: number;
  readonly owners: readonly OwnerReference[];
  readonly nodeName: string | null;
  readonly serviceAccount: string | null;
  readonly restartPolicy: "Always" | "OnFailure" | "Never" | null;
  readonly hostNetwork: boolean;
  /** The manifest's hash of a static pod's mirror (`kubernetes.io/config.hash`); null for any other pod. */
  readonly configHash: string | null;
  readonly static: boolean;
  readonly containers: readonly ContainerSpec[];
  readonly statuses: readonly ContainerStatus[];
  readonly downward: readonly DownwardItem[];
  readonly qosClass: string | null;
  readonly startTime: string | null;
  readonly phase: string | null;
  readonly reason: string | null;
  readonly conditions: readonly Condition[];
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
}
