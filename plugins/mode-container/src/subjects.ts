import type { Container, Workload } from "@trawler/plugin-api";

/** A container is its own subject; a pod makes one of each container that the runtime has. */
export function containerSubjects(workload: Workload): readonly Workload[] {
  if (workload.kind !== "pod") return [workload];
  return workload.containers.flatMap((container) =>
    container.id === null ? [] : [containerWorkload(workload, container, container.id)],
  );
}

function containerWorkload(pod: Workload, container: Container, id: string): Workload {
  return {
    ...pod,
    kind: "container",
    id,
    name: `${pod.name}/${container.name}`,
    lifecycle: lifecycleOf(container),
    handle: { ...container.handle, containerId: id },
    containers: [container],
    resource: { ...pod.resource, ...container.resource },
  };
}

/** A container that has terminated never runs again: its restart has another id. */
function lifecycleOf({ state }: Container): Workload["lifecycle"] {
  if (state.status === "waiting") return "waiting";
  return state.status === "terminated" ? "ended" : "running";
}
