import { podKey } from "../join/join.ts";
import type { RuntimeContainer, RuntimeContainerState, RuntimePod } from "../join/runtime.ts";
import type { ContainerStatus, PodRecord } from "../pods/record.ts";

/** What the node's cgroup tree says of one pod. */
export interface PodCgroup {
  /** Path below the cgroup root; null where only a container's was found. */
  readonly path: string | null;
  /** By container id. */
  readonly containers: ReadonlyMap<string, { readonly path: string; readonly pid: number | null }>;
}

const STATES: Readonly<Record<ContainerStatus["status"], RuntimeContainerState>> = {
  waiting: "created",
  running: "running",
  terminated: "exited",
};

/**
 * A pod's runtime view where no runtime socket opens: what runs is what the API's status says, and its cgroup and pid are
 * found in the cgroup tree by container id.
 */
export function runtimePodOf(record: PodRecord, cgroup: PodCgroup | null, observedAt: string): RuntimePod {
  const uid = podKey(record);
  const containers: RuntimeContainer[] = [];
  for (const status of record.statuses) {
    if (status.id === null) continue;
    const found = cgroup?.containers.get(status.id);
    containers.push({
      id: status.id,
      name: status.name,
      image: record.containers.find((container) => container.name === status.name)?.image ?? status.image ?? "",
      digest: status.digest,
      state: STATES[status.status],
      createdAt: null,
      startedAt: status.startedAt,
      finishedAt: status.finishedAt,
      exitCode: status.exitCode,
      reason: status.reason,
      attempt: status.restarts,
      labels: Object.create(null),
      pid: status.status === "running" ? (found?.pid ?? null) : null,
      cgroup: found?.path ?? null,
      environment: Object.create(null),
    });
  }
  const ended = record.phase === "Succeeded" || record.phase === "Failed";
  return {
    source: "api",
    observedAt,
    uid,
    namespace: record.namespace,
    name: record.name,
    sandbox: {
      id: "",
      uid,
      namespace: record.namespace,
      name: record.name,
      attempt: 0,
      state: ended ? "notready" : "ready",
      createdAt: record.createdAt,
      ips: [],
      labels: record.labels,
      annotations: record.annotations,
      pid: null,
      hostNetwork: record.hostNetwork,
      cgroup: cgroup?.path ?? null,
      runtimeName: record.statuses.find((status) => status.runtimeName !== null)?.runtimeName ?? null,
    },
    containers,
  };
}
