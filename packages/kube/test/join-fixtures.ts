import type { StringMap, Workload } from "@trawler/plugin-api";
import type { JoinInput, SeenRecord } from "../src/join/input.ts";
import { joinPod } from "../src/join/join.ts";
import type { RuntimeContainer, RuntimePod, RuntimeSandbox } from "../src/join/runtime.ts";
import { parsePod } from "../src/pods/parse.ts";
import type { PodRecord } from "../src/pods/record.ts";
import type { RawObject } from "../src/reflector/event.ts";

export const T0 = "2026-11-30T21:00:00.000Z";
export const T1 = "2026-11-30T21:01:00.000Z";
export const T9 = "2026-11-30T21:09:00.000Z";
export const UID = "549c9a3e-0000-4000-8000-000000000001";
export const IDS = { a: "a".repeat(64), b: "b".repeat(64), c: "c".repeat(64), sandbox: "5".repeat(64) } as const;

/** A map without prototype, as sources give them. */
export function map(entries: Record<string, string> = {}): StringMap {
  return Object.assign(Object.create(null), entries);
}

export function rawPod(changes: {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}): RawObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      uid: UID,
      namespace: "shop",
      name: "cart-0",
      resourceVersion: "332",
      generation: 1,
      labels: { app: "cart" },
      annotations: { team: "data" },
      ...changes.metadata,
    },
    spec: {
      nodeName: "node-a",
      restartPolicy: "Always",
      containers: [
        {
          name: "redis",
          image: "registry.example.test/redis:7.0",
          resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } },
        },
      ],
      ...changes.spec,
    },
    status: {
      phase: "Running",
      qosClass: "Burstable",
      startTime: T0,
      podIP: "10.88.0.106",
      podIPs: [{ ip: "10.88.0.106" }],
      hostIP: "192.0.2.10",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: T0 }],
      containerStatuses: [
        { name: "redis", containerID: `containerd://${IDS.a}`, restartCount: 0, state: { running: { startedAt: T0 } } },
      ],
      ...changes.status,
    },
  };
}

export function record(changes: Parameters<typeof rawPod>[0] = {}): PodRecord {
  const parsed = parsePod(rawPod(changes));
  if (parsed === null) throw new Error("the fixture is no pod");
  return parsed;
}

export function seen(changes: Parameters<typeof rawPod>[0] = {}, observedAt: string = T0): SeenRecord {
  return { record: record(changes), observedAt };
}

export function sandbox(changes: Partial<RuntimeSandbox> = {}): RuntimeSandbox {
  return {
    id: IDS.sandbox,
    uid: UID,
    namespace: "shop",
    name: "cart-0",
    attempt: 0,
    state: "ready",
    createdAt: T0,
    ips: ["10.88.0.106"],
    labels: map({ app: "cart", "io.kubernetes.pod.uid": UID, "io.kubernetes.pod.name": "cart-0" }),
    annotations: map({ team: "data", "kubernetes.io/config.seen": T0, "kubernetes.io/config.source": "api" }),
    pid: 100,
    hostNetwork: false,
    cgroup: `/kubepods/burstable/pod${UID}`,
    runtimeName: "containerd",
    ...changes,
  };
}

export function container(changes: Partial<RuntimeContainer> = {}): RuntimeContainer {
  return {
    id: IDS.a,
    name: "redis",
    image: "registry.example.test/redis:7.0",
    digest: `sha256:${"d".repeat(64)}`,
    state: "running",
    createdAt: T0,
    startedAt: T0,
    finishedAt: null,
    exitCode: null,
    reason: null,
    attempt: 0,
    labels: map(),
    pid: 200,
    cgroup: `/kubepods/burstable/pod${UID}/${IDS.a}`,
    environment: map(),
    ...changes,
  };
}

export function exited(changes: Partial<RuntimeContainer> = {}): RuntimeContainer {
  const end = { state: "exited", pid: null, finishedAt: T1, exitCode: 0, reason: "Completed" } as const;
  return container({ ...end, ...changes });
}

export function runtime(changes: Partial<RuntimePod> = {}): RuntimePod {
  const box = changes.sandbox === undefined ? sandbox() : changes.sandbox;
  return {
    source: "cri",
    observedAt: T1,
    sandbox: box,
    uid: box?.uid ?? UID,
    namespace: "shop",
    name: box?.name ?? "cart-0",
    containers: [container()],
    ...changes,
  };
}

export const OWNERLESS = { resource: {}, complete: true, reason: null, observedAt: null } as const;

export function input(changes: Partial<JoinInput> = {}): JoinInput {
  return {
    cluster: "testbed",
    node: "node-a",
    runtime: runtime(),
    runtimeAway: false,
    api: seen(),
    apiAway: null,
    kubelet: null,
    downward: null,
    owner: OWNERLESS,
    previous: null,
    ...changes,
  };
}

export function join(changes: Partial<JoinInput> = {}): Workload {
  const workload = joinPod(input(changes));
  if (workload === null) throw new Error("no source knows the pod");
  return workload;
}

export const AWAY = { since: T1, reason: "watch pods: cannot reach https://192.0.2.1: ECONNREFUSED" } as const;
