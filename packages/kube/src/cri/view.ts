import type { RuntimeContainer, RuntimeContainerState, RuntimePod, RuntimeSandbox } from "../join/runtime.ts";
import { cgroupOf, parentCgroup } from "./cgroup-path.ts";
import { containerOf, containerOfStatus, podUidOf, sandboxOf, sandboxOfStatus } from "./map.ts";
import type { Container, ContainerEvent, ContainerStatus, PodSandbox, PodSandboxStatus } from "./messages.ts";
import type { VerboseInfo } from "./verbose.ts";

/** What a verbose status says of a container beyond `VerboseInfo`. */
export type Told = Pick<RuntimeContainer, "inspection" | "imageInspection">;

/** A container only ever moves on: a late message never brings an earlier state back. */
const ORDER: Readonly<Record<RuntimeContainerState, number>> = {
  created: 0,
  running: 1,
  paused: 1,
  unknown: 1,
  exited: 2,
};
const MAX_TOMBSTONES = 10_000;

interface ContainerEntry {
  readonly value: RuntimeContainer;
  /** The state at which the status was last read; null = never. */
  readonly readAt: RuntimeContainerState | null;
}

interface PodEntry {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly sandboxes: Map<string, { readonly value: RuntimeSandbox; readonly read: boolean }>;
  readonly containers: Map<string, ContainerEntry>;
}

/** What has to be asked of the runtime before a pod's view is whole. */
export interface Missing {
  readonly sandboxes: readonly string[];
  readonly containers: readonly string[];
}

/**
 * All pods that the runtime has, kept from lists, events and statuses. No input or output: the follower feeds it. Each
 * method answers with the UIDs of the pods that it touched.
 */
export class RuntimeView {
  readonly #pods = new Map<string, PodEntry>();
  /** Sandbox and container id to pod UID. */
  readonly #owners = new Map<string, string>();
  readonly #tombstones = new Set<string>();
  readonly #runtimeName: () => string;

  constructor(runtimeName: () => string) {
    this.#runtimeName = runtimeName;
  }

  get uids(): readonly string[] {
    return [...this.#pods.keys()];
  }

  uidOf(id: string): string | null {
    return this.#owners.get(id) ?? null;
  }

  /** The pod as it is known now; null where the runtime has nothing of it. */
  pod(uid: string, observedAt: string): RuntimePod | null {
    const entry = this.#pods.get(uid);
    if (entry === undefined) return null;
    const sandboxes = [...entry.sandboxes.values()].map((sandbox) => sandbox.value);
    const sandbox = sandboxes.toSorted((a, b) => b.attempt - a.attempt || newer(a, b))[0] ?? null;
    const containers = [...entry.containers.values()].map((container) => container.value);
    containers.sort((a, b) => compare(a.createdAt ?? "", b.createdAt ?? "") || compare(a.id, b.id));
    return { source: "cri", observedAt, sandbox, uid, namespace: entry.namespace, name: entry.name, containers };
  }

  missing(uid: string): Missing {
    const entry = this.#pods.get(uid);
    const sandboxes = [...(entry?.sandboxes.values() ?? [])].filter(({ read }) => !read).map(({ value }) => value.id);
    const containers = [...(entry?.containers.values() ?? [])].filter(({ value, readAt }) => readAt !== value.state);
    return { sandboxes, containers: containers.map(({ value }) => value.id) };
  }

  /** The ids that are known: taken before a list is asked for, so that what came meanwhile is not held for gone. */
  ids(): ReadonlySet<string> {
    return new Set(this.#owners.keys());
  }

  /** Takes a whole list; those of `before` that are not in it have gone. */
  applyList(
    sandboxes: readonly PodSandbox[],
    containers: readonly Container[],
    before: ReadonlySet<string>,
  ): ReadonlySet<string> {
    const touched = new Set<string>();
    const seen = new Set<string>();
    for (const item of sandboxes) {
      const sandbox = sandboxOf(item, this.#runtimeName());
      if (sandbox === null) continue;
      seen.add(sandbox.id);
      if (this.#listSandbox(sandbox)) touched.add(sandbox.uid);
    }
    for (const item of containers) {
      const uid = podUidOf(item.labels) ?? this.#owners.get(item.podSandboxId);
      const container = containerOf(item);
      if (container === null || uid === undefined) continue;
      seen.add(container.id);
      if (this.#listContainer(uid, container)) touched.add(uid);
    }
    for (const id of before) {
      const uid = seen.has(id) ? null : this.remove(id);
      if (uid !== null) touched.add(uid);
    }
    return touched;
  }

  /** Takes an event, which carries the whole pod as it was then. */
  applyEvent(event: ContainerEvent): ReadonlySet<string> {
    const touched = new Set<string>();
    const uid = event.podSandboxStatus === null ? null : this.applySandbox(event.podSandboxStatus, null);
    if (uid !== null) touched.add(uid);
    for (const status of event.containersStatuses) {
      const owner = this.applyContainer(status, null, uid);
      if (owner !== null) touched.add(owner);
    }
    if (event.containerEventType === "CONTAINER_DELETED_EVENT") {
      const owner = this.remove(event.containerId);
      if (owner !== null) touched.add(owner);
    }
    return touched;
  }

  /** Takes a sandbox's status; `info` where it was verbose. Answers with the pod's UID, or null where nothing is kept. */
  applySandbox(status: PodSandboxStatus, info: VerboseInfo | null): string | null {
    const sandbox = sandboxOfStatus(status, this.#runtimeName());
    if (sandbox === null || this.#tombstones.has(sandbox.id)) return null;
    const entry = this.#entry(sandbox.uid, sandbox.namespace, sandbox.name);
    const known = entry.sandboxes.get(sandbox.id);
    // cri-dockerd says "not ready" of a running sandbox with a single address; its list is right.
    const state = sandbox.runtimeName === "docker" ? (known?.value.state ?? sandbox.state) : sandbox.state;
    const ready = state === "ready";
    // A stopped sandbox never starts again.
    if (ready && known?.read === true && known.value.state === "notready") return null;
    const value: RuntimeSandbox = {
      ...sandbox,
      state,
      // The runtime empties the addresses of a stopped sandbox; the last ones stay with the ended pod.
      ips: sandbox.ips.length === 0 && !ready ? (known?.value.ips ?? []) : sandbox.ips,
      pid: ready ? (info?.pid ?? known?.value.pid ?? null) : null,
      cgroup: parentCgroup(cgroupOf(info?.cgroupsPath ?? null)) ?? known?.value.cgroup ?? null,
    };
    entry.sandboxes.set(sandbox.id, { value, read: info !== null || !ready || known?.read === true });
    this.#owners.set(sandbox.id, sandbox.uid);
    return sandbox.uid;
  }

  /** Takes a container's status; `info` where it was verbose. Answers with the pod's UID, or null where nothing is kept. */
  applyContainer(
    status: ContainerStatus,
    info: VerboseInfo | null,
    podUid: string | null,
    told: Told = {},
  ): string | null {
    const container = containerOfStatus(status);
    const uid = podUidOf(status.labels) ?? podUid ?? this.#owners.get(status.id) ?? null;
    if (container === null || uid === null || this.#tombstones.has(container.id)) return null;
    const entry = this.#entry(uid, ...namesOf(container));
    const known = entry.containers.get(container.id);
    if (known !== undefined && ORDER[container.state] < ORDER[known.value.state]) return null;
    // Only a verbose status of a running container has its pid; of any other state an event says all.
    const whole = info !== null || container.state !== "running";
    const inspection = told.inspection ?? known?.value.inspection;
    const imageInspection = told.imageInspection ?? known?.value.imageInspection;
    const value: RuntimeContainer = {
      ...container,
      ...(inspection !== undefined && { inspection }),
      ...(imageInspection !== undefined && { imageInspection }),
      // A status names the image by any of its tags; a list, and a verbose status, as the user did.
      image: info?.image || status.image?.userSpecifiedImage || known?.value.image || container.image,
      pid: container.state === "running" ? (info?.pid ?? known?.value.pid ?? null) : null,
      cgroup: cgroupOf(info?.cgroupsPath ?? null) ?? known?.value.cgroup ?? null,
      environment: info?.environment ?? known?.value.environment ?? container.environment,
    };
    entry.containers.set(container.id, { value, readAt: whole ? container.state : (known?.readAt ?? null) });
    this.#owners.set(container.id, uid);
    return uid;
  }

  /** Forgets a sandbox or container that the runtime no longer has; answers with its pod's UID. */
  remove(id: string): string | null {
    const uid = this.#owners.get(id) ?? null;
    this.#bury(id);
    this.#owners.delete(id);
    const entry = uid === null ? undefined : this.#pods.get(uid);
    if (entry === undefined) return null;
    entry.sandboxes.delete(id);
    entry.containers.delete(id);
    if (entry.sandboxes.size === 0 && entry.containers.size === 0) this.#pods.delete(entry.uid);
    return uid;
  }

  /** A list item knows less than a status: it only moves the state on. */
  #listSandbox(sandbox: RuntimeSandbox): boolean {
    if (this.#tombstones.has(sandbox.id)) return false;
    const entry = this.#entry(sandbox.uid, sandbox.namespace, sandbox.name);
    const known = entry.sandboxes.get(sandbox.id);
    if (known !== undefined && (known.value.state === sandbox.state || sandbox.state === "ready")) return false;
    const value = known === undefined ? sandbox : { ...known.value, state: sandbox.state, pid: null };
    entry.sandboxes.set(sandbox.id, { value, read: known?.read ?? false });
    this.#owners.set(sandbox.id, sandbox.uid);
    return true;
  }

  #listContainer(uid: string, container: RuntimeContainer): boolean {
    if (this.#tombstones.has(container.id)) return false;
    const entry = this.#entry(uid, ...namesOf(container));
    const known = entry.containers.get(container.id);
    const before = known?.value.state;
    if (before !== undefined && (container.state === before || ORDER[container.state] < ORDER[before])) return false;
    const value = known === undefined ? container : { ...known.value, state: container.state, pid: null };
    entry.containers.set(container.id, { value, readAt: known?.readAt ?? null });
    this.#owners.set(container.id, uid);
    return true;
  }

  #entry(uid: string, namespace: string, name: string): PodEntry {
    const known = this.#pods.get(uid);
    if (known !== undefined) return known;
    const entry = { uid, namespace, name, sandboxes: new Map(), containers: new Map() };
    this.#pods.set(uid, entry);
    return entry;
  }

  /** Ids never come back: an event of before must not bring a deleted one to life. */
  #bury(id: string): void {
    this.#tombstones.add(id);
    for (const oldest of this.#tombstones) {
      if (this.#tombstones.size <= MAX_TOMBSTONES) break;
      this.#tombstones.delete(oldest);
    }
  }
}

function newer(a: RuntimeSandbox, b: RuntimeSandbox): number {
  return compare(b.createdAt ?? "", a.createdAt ?? "");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Namespace and name of the pod, as the kubelet labelled its container. */
function namesOf(container: RuntimeContainer): [namespace: string, name: string] {
  return [container.labels["io.kubernetes.pod.namespace"] ?? "", container.labels["io.kubernetes.pod.name"] ?? ""];
}
