import {
  type Container,
  type ContainerInspection,
  type Handle,
  type NodeInfo,
  type PodStatus,
  parseImage,
  type Resource,
  type Sandbox,
  type Workload,
} from "@trawler/plugin-api";
import { type Facts, shortId } from "./facts.ts";

/** What a container's own facts do not say. */
export interface Surroundings {
  readonly node: Pick<NodeInfo, "name" | "cluster">;
  /** `docker` or `podman`. */
  readonly engine: string;
  /** RFC 3339: when the engine said so. */
  readonly observedAt: string;
  /** It stopped a moment ago and may be about to start again. */
  readonly mayRestart: boolean;
  /** Facts of the container with this id or name, where the engine has it. */
  readonly find: (idOrName: string) => Facts | undefined;
}

/** One container as a workload of its own. Pure: the same facts make the same workload. */
export function toWorkload(facts: Facts, surroundings: Surroundings): Workload {
  const { observedAt, engine } = surroundings;
  const network = findNetwork(facts, surroundings);
  const source = { source: "docker", observedAt } as const;
  return {
    kind: "container",
    id: facts.id,
    name: facts.name,
    lifecycle: lifecycle(facts, surroundings.mayRestart),
    handle: handle(facts),
    sandbox: network.sandbox,
    containers: [toContainer(facts, network, engine)],
    resource: resource(facts, surroundings, network),
    labels: facts.labels,
    annotations: facts.annotations,
    status: toStatus(facts, network),
    metadata: {
      complete: network.missing === null,
      reason: network.missing,
      groups: {
        identity: source,
        spec: source,
        labels: source,
        annotations: source,
        status: source,
        ...(network.missing === null && { network: source }),
      },
    },
  };
}

function lifecycle(facts: Facts, mayRestart: boolean): Workload["lifecycle"] {
  if (facts.ended) return mayRestart ? "running" : "ended";
  return facts.state.status === "waiting" && facts.state.startedAt === null ? "waiting" : "running";
}

function handle({ id, pid, labels, cgroupParent }: Facts): Partial<Handle> {
  const podUid = labels["io.kubernetes.pod.uid"];
  return {
    containerId: id,
    ...(pid !== null && { pid }),
    ...(podUid !== undefined && podUid !== "" && { podUid }),
    cgroup: cgroupHint(id, cgroupParent),
  };
}

/** Where the engine puts it; the mode verifies. A slice is systemd's, any other parent a plain folder. */
function cgroupHint(id: string, parent: string | null): string {
  if (parent?.endsWith(".slice") === true) return `${parent.slice(parent.lastIndexOf("/") + 1)}:docker:${id}`;
  return `/${(parent ?? "docker").replace(/^\/+|\/+$/g, "")}/${id}`;
}

interface Network {
  readonly mode: string | null;
  readonly host: boolean;
  readonly ips: readonly string[];
  /** Whose network it is: the container's own facts, or those of the one that it shares with; null where missing. */
  readonly owner: Facts | null;
  /** The container whose network namespace this one shares. */
  readonly sandbox: Sandbox | null;
  readonly missing: string | null;
}

/** `container:<id>` may be chained; more steps than these are a loop. */
const MAX_STEPS = 8;

function findNetwork(facts: Facts, { find }: Surroundings): Network {
  const mode = facts.networkMode;
  let owner = facts;
  for (let step = 0; step < MAX_STEPS; step++) {
    const target = sharedWith(owner.networkMode);
    if (target === null) {
      const host = owner.networkMode === "host";
      const { id, pid } = owner;
      const sandbox =
        owner === facts ? null : { id, handle: { containerId: id, ...(pid !== null && { pid }) }, hostNetwork: host };
      return { mode, host, ips: host ? [] : owner.ips, owner, sandbox, missing: null };
    }
    const next = find(target);
    if (next === undefined) break;
    owner = next;
  }
  return {
    mode,
    host: false,
    ips: [],
    owner: null,
    sandbox: null,
    missing: `the container of network ${mode} is not there`,
  };
}

/** The id or name in `container:<id>`; null for every other mode. */
export function sharedWith(mode: string | null): string | null {
  return mode?.startsWith("container:") === true ? mode.slice("container:".length) : null;
}

function toContainer(facts: Facts, { owner }: Network, engine: string): Container {
  const { id, image, state, resources, inspection, imageInspection } = facts;
  const name = facts.labels["io.kubernetes.container.name"] ?? facts.name;
  const parsed = parseImage(image);
  return {
    name,
    id,
    image,
    digest: facts.digest ?? parsed.digest,
    type: "app",
    state,
    resource: {
      "container.id": id,
      "container.name": facts.name,
      "container.runtime.name": engine,
      ...(parsed.name !== null && { "container.image.name": parsed.name }),
      ...(parsed.tag !== null && { "container.image.tags": [parsed.tag] }),
      ...(facts.imageId !== null && { "container.image.id": facts.imageId }),
    },
    resources,
    handle: handle(facts),
    ...(inspection !== null && { inspection: withNetworksOf(owner?.inspection ?? null, inspection) }),
    ...(imageInspection !== null && { imageInspection }),
  };
}

/** One that shares another's network is attached to what that one is; null = it is not there. */
function withNetworksOf(owner: ContainerInspection | null, own: ContainerInspection): ContainerInspection {
  if (owner === own) return own;
  const { networks = null, bridges = null, usesDefaultBridge = null } = owner ?? {};
  return { ...own, networks, bridges, usesDefaultBridge };
}

const POD_LABELS: readonly (readonly [string, string])[] = [
  ["io.kubernetes.pod.namespace", "k8s.namespace.name"],
  ["io.kubernetes.pod.name", "k8s.pod.name"],
  ["io.kubernetes.pod.uid", "k8s.pod.uid"],
  ["io.kubernetes.container.name", "k8s.container.name"],
];

function resource(facts: Facts, { node, engine }: Surroundings, network: Network): Resource {
  const pod = POD_LABELS.flatMap(([label, attribute]) => {
    const value = facts.labels[label];
    return value === undefined ? [] : [[attribute, value] as const];
  });
  return {
    "host.name": node.name,
    ...(pod.length > 0 && { "k8s.cluster.name": node.cluster, "k8s.node.name": node.name }),
    ...Object.fromEntries(pod),
    "container.id": facts.id,
    "container.name": facts.name,
    "container.runtime.name": engine,
    ...(network.mode !== null && { "docker.network.mode": shortMode(network) }),
  };
}

function shortMode({ mode, sandbox }: Network): string {
  return sandbox === null ? (mode ?? "") : `container:${shortId(sandbox.id)}`;
}

function toStatus(facts: Facts, network: Network): PodStatus {
  return {
    phase: null,
    reason: null,
    qosClass: null,
    startTime: facts.state.startedAt,
    resourceVersion: null,
    generation: null,
    static: false,
    hostNetwork: network.missing === null ? network.host : null,
    ips: network.ips,
    conditions: [],
  };
}
