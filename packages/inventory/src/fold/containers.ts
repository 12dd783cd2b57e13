import type { PodRecord } from "@trawler/kube";
import type { ContainerInstance } from "../record.ts";

/** The present run of each container, and the runs before them that the pod still tells of. */
export function containersOf(pod: PodRecord): {
  readonly present: readonly ContainerInstance[];
  readonly earlier: readonly ContainerInstance[];
} {
  const present: ContainerInstance[] = [];
  const earlier: ContainerInstance[] = [];
  const statuses = new Map(pod.statuses.map((status) => [status.name, status]));
  for (const { name, type, image } of pod.containers) {
    const status = statuses.get(name);
    const run = { container: name, type, image: status?.image ?? image, digest: status?.digest ?? null };
    present.push({
      ...run,
      id: status?.id ?? null,
      restarts: status?.restarts ?? 0,
      status: status?.status ?? "waiting",
      reason: status?.reason ?? null,
      exitCode: status?.exitCode ?? null,
      startedAt: status?.startedAt ?? null,
      finishedAt: status?.finishedAt ?? null,
    });
    const last = status?.lastTermination;
    if (status === undefined || last == null) continue;
    earlier.push({
      ...run,
      id: status.lastId,
      restarts: Math.max(0, status.restarts - 1),
      status: "terminated",
      reason: last.reason,
      exitCode: last.exitCode,
      startedAt: last.startedAt,
      finishedAt: last.finishedAt,
    });
  }
  return { present, earlier };
}

/** One run is told from another by the runtime's id, or by its count where it has none. */
export function isSameRun(a: ContainerInstance, b: ContainerInstance): boolean {
  if (a.container !== b.container) return false;
  return a.id !== null && b.id !== null ? a.id === b.id : a.id === b.id && a.restarts === b.restarts;
}
