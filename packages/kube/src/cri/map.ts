import type { RuntimeContainer, RuntimeContainerState, RuntimeSandbox } from "../join/runtime.ts";
import type { Container, ContainerStatus, ImageSpec, PodSandbox, PodSandboxStatus, Strings } from "./messages.ts";
import { stringMap } from "./strings.ts";
import { timeOfNanos } from "./time.ts";

const STATES: Readonly<Record<string, RuntimeContainerState>> = {
  CONTAINER_CREATED: "created",
  CONTAINER_RUNNING: "running",
  CONTAINER_EXITED: "exited",
};

/** The UID of the pod that a container belongs to, as the kubelet labelled it; null for a container of no pod. */
export function podUidOf(labels: Strings): string | null {
  return labels["io.kubernetes.pod.uid"] || null;
}

/** A sandbox as a list has it: no address, no pid. Null without an id or a pod UID: nothing can be keyed by that. */
export function sandboxOf(item: PodSandbox, runtimeName: string): RuntimeSandbox | null {
  const uid = item.metadata?.uid || podUidOf(item.labels);
  if (item.id === "" || !uid) return null;
  return {
    id: item.id,
    uid,
    namespace: item.metadata?.namespace || item.labels["io.kubernetes.pod.namespace"] || "",
    name: item.metadata?.name || item.labels["io.kubernetes.pod.name"] || "",
    attempt: item.metadata?.attempt ?? 0,
    state: item.state === "SANDBOX_READY" ? "ready" : "notready",
    createdAt: timeOfNanos(item.createdAt),
    ips: [],
    labels: stringMap(item.labels),
    annotations: stringMap(item.annotations),
    pid: null,
    hostNetwork: null,
    cgroup: null,
    runtimeName,
  };
}

/** A sandbox as its status has it: with its addresses and whether its network is the node's. */
export function sandboxOfStatus(status: PodSandboxStatus, runtimeName: string): RuntimeSandbox | null {
  const sandbox = sandboxOf(status, runtimeName);
  if (sandbox === null) return null;
  const network = status.linux?.namespaces?.options?.network;
  const hostNetwork = network === undefined ? null : network === "NODE";
  const ips = [status.network?.ip, ...(status.network?.additionalIps ?? []).map((entry) => entry.ip)];
  return {
    ...sandbox,
    hostNetwork,
    ips: hostNetwork === true ? [] : ips.filter((ip): ip is string => ip !== undefined && ip !== ""),
  };
}

/** A container as a list has it: no times but creation, no exit code. Null without an id. */
export function containerOf(item: Container | ContainerStatus): RuntimeContainer | null {
  if (item.id === "") return null;
  return {
    id: item.id,
    name: item.labels["io.kubernetes.container.name"] || item.metadata?.name || "",
    image: imageOf(item.image, item.imageRef),
    digest: /sha256:[0-9a-f]{64}/.exec(item.imageRef)?.[0] ?? null,
    state: STATES[item.state] ?? "unknown",
    createdAt: timeOfNanos(item.createdAt),
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    reason: null,
    attempt: item.metadata?.attempt ?? 0,
    labels: stringMap(item.labels),
    pid: null,
    cgroup: null,
    environment: Object.create(null),
  };
}

/** A container as its status has it. */
export function containerOfStatus(status: ContainerStatus): RuntimeContainer | null {
  const container = containerOf(status);
  if (container === null) return null;
  const exited = container.state === "exited";
  return {
    ...container,
    startedAt: timeOfNanos(status.startedAt),
    finishedAt: exited ? timeOfNanos(status.finishedAt) : null,
    exitCode: exited ? status.exitCode : null,
    reason: status.reason === "" ? null : status.reason,
  };
}

/** What the user wrote; older runtimes give only the resolved name. */
function imageOf(image: ImageSpec | null, imageRef: string): string {
  return image?.userSpecifiedImage || image?.image || imageRef;
}
