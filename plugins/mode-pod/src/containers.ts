import type { Container, Workload } from "@trawler/plugin-api";

/** Containers of a workload that run, by id, in its order. A paused one still has its cgroup and its processes. */
export function runningContainers(workload: Workload): ReadonlyMap<string, Container> {
  const running = new Map<string, Container>();
  for (const container of workload.containers) {
    const { status } = container.state;
    if (container.id !== null && status !== "waiting" && status !== "terminated") running.set(container.id, container);
  }
  return running;
}
