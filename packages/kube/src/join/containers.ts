import type { Container, ContainerState, Handle, Termination } from "@trawler/plugin-api";
import type { ContainerSpec, ContainerStatus } from "../pods/record.ts";
import type { Declared } from "./declared.ts";
import type { JoinInput } from "./input.ts";
import { containerResource } from "./resource.ts";
import type { RuntimeContainer } from "./runtime.ts";

/** What is known of the container of one name. */
interface Facts {
  readonly name: string;
  readonly spec: ContainerSpec | null;
  readonly status: ContainerStatus | null;
  /** Newest first. */
  readonly running: readonly RuntimeContainer[];
  readonly previous: Container | null;
}

/** Members by name: those that the specification declares in its order, then those that only the runtime has. */
export function containersOf(input: JoinInput, declared: Declared | null, podUid: string): readonly Container[] {
  const specs = new Map((declared?.record.containers ?? []).map((spec) => [spec.name, spec]));
  const statuses = new Map((declared?.record.statuses ?? []).map((status) => [status.name, status]));
  const previous = new Map((input.previous?.containers ?? []).map((container) => [container.name, container]));
  const runtime = new Map<string, RuntimeContainer[]>();
  for (const container of input.runtime?.containers ?? []) {
    if (container.id !== "") runtime.set(container.name, [...(runtime.get(container.name) ?? []), container]);
  }
  const names = new Set([...specs.keys(), ...(declared === null ? previous.keys() : []), ...runtime.keys()]);
  return [...names].map((name) =>
    containerOf(input, podUid, {
      name,
      spec: specs.get(name) ?? null,
      status: statuses.get(name) ?? null,
      running: (runtime.get(name) ?? []).toSorted(newestFirst),
      previous: previous.get(name) ?? null,
    }),
  );
}

function newestFirst(a: RuntimeContainer, b: RuntimeContainer): number {
  const byTime = Date.parse(b.createdAt ?? "") - Date.parse(a.createdAt ?? "");
  return b.attempt - a.attempt || (Number.isNaN(byTime) ? 0 : byTime);
}

function containerOf(input: JoinInput, podUid: string, facts: Facts): Container {
  const { name, spec, status, previous } = facts;
  const current = facts.running[0] ?? null;
  // The runtime forgets a container soon after its end; its last frame still needs its id.
  const id = current?.id ?? previous?.id ?? null;
  const image = spec?.image || previous?.image || current?.image || status?.image || "";
  const runtimeName = input.runtime?.sandbox?.runtimeName ?? status?.runtimeName ?? runtimeOf(previous);
  const declaredId = current !== null && status?.id != null && status.id !== current.id ? status.id : null;
  const resources = spec === null ? (previous?.resources ?? null) : { cpu: spec.cpu, memory: spec.memory };
  const told = current ?? previous;
  return {
    name,
    id,
    image,
    digest: current?.digest ?? status?.digest ?? previous?.digest ?? null,
    type: spec?.type ?? previous?.type ?? "app",
    state: stateOf(facts, current),
    resource: containerResource(name, id, runtimeName, image, declaredId),
    resources,
    handle: handleOf(podUid, id, current),
    ...(told?.inspection !== undefined && { inspection: told.inspection }),
    ...(told?.imageInspection !== undefined && { imageInspection: told.imageInspection }),
  };
}

function runtimeOf(previous: Container | null): string | null {
  const name = previous?.resource["container.runtime.name"];
  return typeof name === "string" ? name : null;
}

function handleOf(podUid: string, id: string | null, current: RuntimeContainer | null): Partial<Handle> {
  const runs = current?.state === "running" || current?.state === "paused";
  return {
    podUid,
    ...(id === null ? {} : { containerId: id }),
    ...(runs && current.pid !== null && current.pid > 0 ? { pid: current.pid } : {}),
    ...(current?.cgroup == null ? {} : { cgroup: current.cgroup }),
  };
}

function stateOf(facts: Facts, current: RuntimeContainer | null): ContainerState {
  if (current === null) return stateWithoutRuntime(facts);
  const { status } = facts;
  const same = status !== null && status.id === current.id ? status : null;
  const older = facts.running[1];
  const restarts = Math.max(current.attempt, status?.restarts ?? 0, 0);
  const last = status?.lastTermination ?? (older?.state === "exited" ? terminationOf(older) : null);
  const base = { startedAt: current.startedAt ?? same?.startedAt ?? null, restarts };
  if (current.state === "exited") {
    const end = {
      reason: current.reason ?? same?.reason ?? null,
      exitCode: current.exitCode ?? same?.exitCode ?? null,
      startedAt: base.startedAt,
      finishedAt: current.finishedAt ?? same?.finishedAt ?? null,
    };
    // The kubelet holds it back before the next start, and says why.
    if (status?.status === "waiting" && status.lastId === current.id) {
      return {
        ...base,
        status: "waiting",
        reason: status.reason,
        finishedAt: null,
        exitCode: null,
        lastTermination: end,
      };
    }
    return { ...end, status: "terminated", restarts, lastTermination: last };
  }
  const idle = { ...base, finishedAt: null, exitCode: null, lastTermination: last };
  if (current.state === "created") {
    return { ...idle, status: "waiting", reason: status?.status === "waiting" ? status.reason : null, startedAt: null };
  }
  return { ...idle, status: current.state, reason: null };
}

/** What the API says of a container that the runtime lacks; whatever it says, it does not run. */
function stateWithoutRuntime({ status, previous }: Facts): ContainerState {
  if (previous?.state.status === "terminated" && status?.status !== "terminated") return previous.state;
  if (status === null) {
    if (previous !== null) return hasRun(previous.state) ? { ...previous.state, status: "unknown" } : previous.state;
    const none = { reason: null, startedAt: null, finishedAt: null, exitCode: null, lastTermination: null };
    return { status: "waiting", restarts: null, ...none };
  }
  return {
    status: status.status === "running" ? "unknown" : status.status,
    reason: status.reason,
    startedAt: status.startedAt,
    finishedAt: status.finishedAt,
    exitCode: status.exitCode,
    restarts: status.restarts,
    lastTermination: status.lastTermination,
  };
}

function hasRun({ status, startedAt, restarts }: ContainerState): boolean {
  return status !== "waiting" || startedAt !== null || (restarts ?? 0) > 0;
}

function terminationOf(container: RuntimeContainer): Termination {
  const { reason, exitCode, startedAt, finishedAt } = container;
  return { reason, exitCode, startedAt, finishedAt };
}
