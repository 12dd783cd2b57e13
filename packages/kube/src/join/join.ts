import type { Handle, Metadata, MetadataGroup, PodStatus, Resource, Sandbox, Workload } from "@trawler/plugin-api";
import type { PodRecord } from "../pods/record.ts";
import { containersOf } from "./containers.ts";
import { type Declared, declaredOf } from "./declared.ts";
import type { JoinInput } from "./input.ts";
import { pickMap } from "./labels.ts";
import { lifecycleOf } from "./lifecycle.ts";
import { type Network, networkOf } from "./network.ts";
import { ownersIn } from "./resource.ts";

type Groups = { -readonly [K in keyof Metadata["groups"]]: Metadata["groups"][K] };

/**
 * Merges what all sources say of one pod into a workload: the runtime is the truth for what runs, the API for what is
 * declared; the kubelet's Pods API, the downward API and what was known before fill in while the API is away. Pure: the
 * same input gives the same workload. Null where neither the runtime nor a record knows the pod.
 */
export function joinPod(given: JoinInput): Workload | null {
  const input = ofOnePod(given);
  const declared = declaredOf(input);
  const { runtime, previous } = input;
  const identity = runtime ?? declared?.record ?? null;
  if (identity === null) return null;
  const id = runtime !== null && runtime.source !== "api" ? runtime.uid : podKey(declared?.record ?? identity);
  const network = networkOf(input, declared);
  const labels = pickMap("labels", input, declared);
  const annotations = pickMap("annotations", input, declared);
  const containers = containersOf(input, declared, id);
  const owners = ownerOf(input, declared);
  const groups: Groups = {};
  set(groups, "identity", identityGroup(input, declared));
  set(groups, "spec", recordGroup("spec", input, declared) ?? environmentGroup(input));
  set(groups, "labels", labels.group);
  set(groups, "annotations", annotations.group);
  set(groups, "status", recordGroup("status", input, declared));
  set(groups, "network", network.group);
  set(groups, "owner", owners.group);
  const reason = incomplete(input, owners.reason);
  return {
    kind: "pod",
    id,
    name: `${identity.namespace}/${identity.name}`,
    lifecycle: lifecycleOf(runtime, declared, containers),
    handle: podHandle(input, id),
    sandbox: sandboxOf(input, id, network),
    containers,
    resource: podResource(input, declared, id, network, owners.resource),
    labels: labels.map,
    annotations: annotations.map,
    status: statusOf(declared, previous, network, runtime),
    metadata: { complete: reason === null, reason, groups },
  };
}

/**
 * The UID under which the kubelet and the runtime keep a pod: for a static one its manifest's hash, which does not
 * change when its mirror in the API is made anew.
 */
export function podKey(pod: Pick<PodRecord, "uid"> & Partial<Pick<PodRecord, "static" | "configHash">>): string {
  return pod.static === true && pod.configHash != null ? pod.configHash : pod.uid;
}

/** Drops records of another pod: of another UID, or of a mirror that claims a manifest which is not its own. */
function ofOnePod(input: JoinInput): JoinInput {
  const { runtime } = input;
  if (runtime === null) return input;
  const mine = (record: PodRecord): boolean =>
    (record.uid === runtime.uid || podKey(record) === runtime.uid) &&
    record.namespace === runtime.namespace &&
    record.name === runtime.name;
  const previous = input.previous?.id === runtime.uid || runtime.source === "api" ? input.previous : null;
  return {
    ...input,
    previous,
    api: input.api !== null && mine(input.api.record) ? input.api : null,
    kubelet: input.kubelet !== null && mine(input.kubelet.record) ? input.kubelet : null,
  };
}

function set(groups: Groups, name: keyof Groups, group: MetadataGroup | null): void {
  if (group !== null) groups[name] = group;
}

function identityGroup(input: JoinInput, declared: Declared | null): MetadataGroup | null {
  const { runtime, runtimeAway } = input;
  if (runtime !== null && runtime.source !== "api")
    return { source: runtimeAway ? "cache" : runtime.source, observedAt: runtime.observedAt };
  return declared === null ? null : { source: declared.source, observedAt: declared.observedAt };
}

function recordGroup(name: "spec" | "status", input: JoinInput, declared: Declared | null): MetadataGroup | null {
  if (declared !== null) return { source: declared.source, observedAt: declared.observedAt };
  const known = input.previous?.metadata.groups[name];
  return known === undefined || known.source === "environ" ? null : { ...known, source: "cache" };
}

/** Without any record, the containers' environment still says a little of the specification. */
function environmentGroup(input: JoinInput): MetadataGroup | null {
  if (input.runtime === null) return null;
  const { containers, observedAt } = input.runtime;
  const says = containers.some(({ environment }) => SPEC_NAMES.some((name) => environment[name] !== undefined));
  return says ? { source: "environ", observedAt } : null;
}

const SPEC_NAMES = ["POD_SERVICE_ACCOUNT", "NODE_NAME", "HOST_IP"] as const;

function ownerOf(
  input: JoinInput,
  declared: Declared | null,
): { readonly resource: Resource; readonly group: MetadataGroup | null; readonly reason: string | null } {
  const { owner, previous } = input;
  if (declared !== null && owner !== null) {
    const group = { source: declared.source, observedAt: owner.observedAt ?? declared.observedAt };
    return { resource: owner.resource, group, reason: owner.reason };
  }
  const known = previous?.metadata.groups.owner;
  if (previous === null || known === undefined) return { resource: {}, group: null, reason: "owner not known" };
  return { resource: ownersIn(previous.resource), group: { ...known, source: "cache" }, reason: null };
}

function incomplete(input: JoinInput, owner: string | null): string | null {
  if (input.apiAway !== null) return `API server away: ${input.apiAway.reason}`;
  if (input.api === null) return "the API server has not shown this pod";
  return owner;
}

function podHandle(input: JoinInput, podUid: string): Partial<Handle> {
  const { runtime } = input;
  const cgroup = runtime?.sandbox?.cgroup ?? null;
  const running = runtime?.containers.find(({ state, pid }) => state === "running" && pid !== null && pid > 0);
  const pid = runtime?.sandbox?.pid ?? running?.pid ?? null;
  return {
    podUid,
    ...(pid !== null && pid > 0 ? { pid } : {}),
    ...(cgroup === null ? {} : { cgroup }),
  };
}

function sandboxOf(input: JoinInput, podUid: string, network: Network): Sandbox | null {
  const sandbox = input.runtime?.sandbox ?? null;
  if (sandbox === null || sandbox.id === "") return null;
  const pid = sandbox.pid !== null && sandbox.pid > 0 ? { pid: sandbox.pid } : {};
  const cgroup = sandbox.cgroup === null ? {} : { cgroup: sandbox.cgroup };
  const handle = { containerId: sandbox.id, podUid, ...pid, ...cgroup };
  return { id: sandbox.id, handle, hostNetwork: network.hostNetwork === true };
}

function podResource(
  input: JoinInput,
  declared: Declared | null,
  id: string,
  network: Network,
  owners: Resource,
): Resource {
  const identity = input.runtime ?? declared?.record;
  const ip = network.ips[0];
  const mirror = input.api?.record.uid;
  const account = declared?.record.serviceAccount ?? environmentValue(input, "POD_SERVICE_ACCOUNT");
  return {
    "k8s.cluster.name": input.cluster,
    "k8s.node.name": input.node,
    ...(identity === undefined
      ? {}
      : { "k8s.namespace.name": identity.namespace, "k8s.pod.name": identity.name, "k8s.pod.uid": id }),
    ...(ip === undefined ? {} : { "k8s.pod.ip": ip }),
    ...owners,
    ...(mirror === undefined || mirror === id ? {} : { "trawler.mirror.uid": mirror }),
    ...(account === null ? {} : { "trawler.serviceaccount.name": account }),
  };
}

function environmentValue(input: JoinInput, name: string): string | null {
  for (const { environment } of input.runtime?.containers ?? []) if (environment[name]) return environment[name];
  return null;
}

function statusOf(
  declared: Declared | null,
  previous: Workload | null,
  network: Network,
  runtime: JoinInput["runtime"],
): PodStatus {
  const known = declared?.record ?? previous?.status ?? null;
  const source = runtime?.sandbox?.annotations["kubernetes.io/config.source"];
  return {
    phase: known?.phase ?? null,
    reason: known?.reason ?? null,
    qosClass: known?.qosClass ?? null,
    startTime: known?.startTime ?? null,
    resourceVersion: known?.resourceVersion ?? null,
    generation: known?.generation ?? null,
    static: known?.static === true || source === "file" || source === "http",
    hostNetwork: network.hostNetwork,
    ips: network.ips,
    conditions: known?.conditions ?? [],
  };
}
