import type { RuntimeContainer, RuntimeContainerState, RuntimePod } from "../join/runtime.ts";
import type { ContainerStatus, PodRecord } from "../pods/record.ts";
import { type CgroupTree, firstPid, type PodCgroup } from "./tree.ts";

const STATES: Readonly<Record<ContainerStatus["status"], RuntimeContainerState>> = {
  waiting: "created",
  running: "running",
  terminated: "exited",
  unknown: "unknown",
};

/**
 * A pod's runtime view where no runtime socket opens: what runs is what the API's status says, and its cgroup and pid are
 * looked up in the cgroup tree by container id. A cgroup of an id that no status names is the sandbox, or too young.
 */
export async function runtimePodOf(
  record: PodRecord,
  cgroup: PodCgroup | undefined,
  tree: CgroupTree,
  signal: AbortSignal,
  observedAt: string,
): Promise<RuntimePod> {
  const containers: RuntimeContainer[] = [];
  for (const status of record.statuses) {
    if (status.id === null) continue;
    const path = cgroup?.containers.get(status.id) ?? null;
    const running = status.status === "running";
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
      pid: running && path !== null ? await firstPid(tree, path, signal) : null,
      cgroup: path,
      environment: Object.create(null),
    });
  }
  const ended = record.phase === "Succeeded" || record.phase === "Failed";
  return {
    source: "api",
    observedAt,
    uid: record.uid,
    namespace: record.namespace,
    name: record.name,
    sandbox: {
      id: "",
      uid: record.uid,
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
