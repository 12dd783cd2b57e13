import type { ContainerInspection, ImageInspection, StringMap } from "@trawler/plugin-api";

/** Where a runtime view comes from: a CRI or Docker socket, or (where none opens) the API's record and the cgroup tree. */
export type RuntimeSource = "cri" | "docker" | "api";

/** The owner of a pod's namespaces as the runtime sees it. */
export interface RuntimeSandbox {
  /** The runtime's id; empty where the view has no sandbox (discovery without a runtime socket, no infra container). */
  readonly id: string;
  /** The pod's UID as the runtime's labels say it; for a static pod it is its manifest's hash. */
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Counts the sandboxes of one pod from 0. */
  readonly attempt: number;
  readonly state: "ready" | "notready";
  /** RFC 3339, or null. */
  readonly createdAt: string | null;
  /** Addresses as observed, primary first; empty for a pod on the node's network. */
  readonly ips: readonly string[];
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** As the node's pid namespace numbers it; null where unknown or nothing runs. Never 0. */
  readonly pid: number | null;
  /** Null where the runtime does not say. */
  readonly hostNetwork: boolean | null;
  /** Path below the cgroup root of the pod (not of the sandbox); null where unknown. */
  readonly cgroup: string | null;
  /** `containerd`, `cri-o`, `docker`; null where unknown. */
  readonly runtimeName: string | null;
}

export type RuntimeContainerState = "created" | "running" | "paused" | "exited" | "unknown";

/** One container of a pod as the runtime sees it, never the sandbox. */
export interface RuntimeContainer {
  readonly id: string;
  /** The container's name in the pod. */
  readonly name: string;
  /** The image as the user wrote it. */
  readonly image: string;
  /** `sha256:…`, or null. */
  readonly digest: string | null;
  readonly state: RuntimeContainerState;
  /** RFC 3339, or null. */
  readonly createdAt: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly exitCode: number | null;
  readonly reason: string | null;
  /** Counts the containers of one name from 0: restarts as the kubelet told the runtime. */
  readonly attempt: number;
  readonly labels: StringMap;
  readonly pid: number | null;
  /** Path below the cgroup root of the container; null where unknown. */
  readonly cgroup: string | null;
  /** Allow-listed names of the environment to their values; the rest never leaves its parser. */
  readonly environment: StringMap;
  /** From a verbose status alone. */
  readonly inspection?: ContainerInspection;
  readonly imageInspection?: ImageInspection;
}

/** All that the runtime says of one pod at one time. */
export interface RuntimePod {
  readonly source: RuntimeSource;
  /** RFC 3339: when the runtime said so. */
  readonly observedAt: string;
  /** The current sandbox (highest attempt); null where the runtime has none (any more). */
  readonly sandbox: RuntimeSandbox | null;
  /** Identity where `sandbox` is null, and the same as its own otherwise. */
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Every container that the runtime still has, several of one name included. */
  readonly containers: readonly RuntimeContainer[];
}
