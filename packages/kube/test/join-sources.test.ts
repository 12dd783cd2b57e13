import { describe, expect, test } from "vitest";
import { joinPod } from "../src/join/join.ts";
import { sameWorkload } from "../src/join/same.ts";
import {
  AWAY,
  container,
  IDS,
  input,
  join,
  map,
  OWNERLESS,
  runtime,
  sandbox,
  seen,
  T0,
  T1,
  T9,
  UID,
} from "./join-fixtures.ts";

const DEPLOYED = {
  resource: {
    "k8s.replicaset.name": "cart-67df",
    "k8s.replicaset.uid": "47de",
    "k8s.deployment.name": "cart",
    "k8s.deployment.uid": "d1",
  },
  complete: true,
  reason: null,
  observedAt: T1,
} as const;

describe("sources", () => {
  test("runtime away: what it said last is named as cached, with its age", () => {
    const { groups } = join({ runtimeAway: true }).metadata;
    expect(groups.identity).toEqual({ source: "cache", observedAt: T1 });
    expect(groups.network).toMatchObject({ source: "cache", observedAt: T1 });
    expect(groups.labels?.source).toBe("api");
  });

  test("runtime and API healthy: the frame's example", () => {
    const workload = join({ owner: DEPLOYED });
    expect(workload).toMatchObject({
      kind: "pod",
      id: UID,
      name: "shop/cart-0",
      lifecycle: "running",
      handle: { podUid: UID, pid: 100 },
      sandbox: { id: IDS.sandbox, hostNetwork: false },
      labels: { app: "cart" },
      annotations: { team: "data" },
      status: { phase: "Running", qosClass: "Burstable", resourceVersion: "332", static: false, ips: ["10.88.0.106"] },
      metadata: { complete: true, reason: null },
    });
    expect(workload.resource).toEqual({
      "k8s.cluster.name": "testbed",
      "k8s.node.name": "node-a",
      "k8s.namespace.name": "shop",
      "k8s.pod.name": "cart-0",
      "k8s.pod.uid": UID,
      "k8s.pod.ip": "10.88.0.106",
      ...DEPLOYED.resource,
    });
    expect(workload.metadata.groups).toEqual({
      identity: { source: "cri", observedAt: T1 },
      spec: { source: "api", observedAt: T0 },
      labels: { source: "api", observedAt: T0 },
      annotations: { source: "api", observedAt: T0 },
      status: { source: "api", observedAt: T0 },
      network: { source: "cri", observedAt: T1, declared: ["10.88.0.106"] },
      owner: { source: "api", observedAt: T1 },
    });
    expect(workload.containers[0]?.resource).toEqual({
      "k8s.container.name": "redis",
      "container.id": IDS.a,
      "container.runtime.name": "containerd",
      "container.image.name": "registry.example.test/redis",
      "container.image.tags": ["7.0"],
    });
  });

  test("the same input gives the same workload", () => {
    expect(JSON.stringify(join())).toBe(JSON.stringify(join()));
  });

  test("C24: before the first list nothing passes for final", () => {
    const apiAway = { since: T0, reason: "not listed yet" };
    const { metadata, resource, labels } = join({ api: null, apiAway, owner: null });
    expect(metadata).toMatchObject({ complete: false, reason: "API server away: not listed yet" });
    expect(metadata.groups).toMatchObject({ identity: { source: "cri" }, labels: { source: "cri", observedAt: T0 } });
    expect(metadata.groups.status).toBeUndefined();
    expect(metadata.groups.owner).toBeUndefined();
    expect(resource["k8s.pod.uid"]).toBe(UID);
    expect(labels).toEqual(map({ app: "cart" }));
  });

  test("C25: an owner that is found later fills in, and identity stays", () => {
    const pending = { ...DEPLOYED, resource: { "k8s.replicaset.name": "a-1", "k8s.replicaset.uid": "47de" } };
    const before = join({ owner: { ...pending, complete: false, reason: "ReplicaSet a-1: owner unknown" } });
    expect(before.metadata).toMatchObject({ complete: false, reason: "ReplicaSet a-1: owner unknown" });
    expect(before.resource["k8s.deployment.name"]).toBeUndefined();
    const after = join({ owner: DEPLOYED, previous: before });
    expect(after.resource["k8s.deployment.name"]).toBe("cart");
    expect(after.metadata.complete).toBe(true);
    expect(after.id).toBe(before.id);
  });

  test("C27: a pod that the API never mentions has its identity from the runtime", () => {
    const box = sandbox({ uid: "3333", namespace: "batch", name: "job-x" });
    const workload = join({ runtime: runtime({ sandbox: box, namespace: "batch" }), api: null, owner: null });
    expect(workload).toMatchObject({ id: "3333", name: "batch/job-x" });
    expect(workload.metadata).toMatchObject({ complete: false, reason: "the API server has not shown this pod" });
  });

  test("C30: pods on the node's network keep the declared address and own none", () => {
    const host = sandbox({ hostNetwork: true, ips: [] });
    const api = seen({ spec: { hostNetwork: true }, status: { podIPs: [{ ip: "192.0.2.10" }] } });
    const { status, sandbox: box, metadata } = join({ runtime: runtime({ sandbox: host }), api });
    expect(status).toMatchObject({ hostNetwork: true, ips: ["192.0.2.10"] });
    expect(box?.hostNetwork).toBe(true);
    expect(metadata.groups.network?.source).toBe("api");
  });

  test("C33: the API wins over the environment, which stays visible as declared", () => {
    const environment = map({ POD_IP: "2001:db8::7a" });
    const api = seen({ status: { podIPs: [{ ip: "192.0.2.61" }] } });
    const view = runtime({ sandbox: sandbox({ ips: [] }), containers: [container({ environment })] });
    const first = join({ runtime: view, api });
    expect(first.status?.ips).toEqual(["192.0.2.61"]);
    expect(first.metadata.groups.network).toMatchObject({ source: "api", declared: ["192.0.2.61", "2001:db8::7a"] });
    expect(sameWorkload(first, join({ runtime: view, api, previous: first }))).toBe(true);
  });

  test("an address from the environment never becomes the pod's own", () => {
    const environment = map({ POD_IP: "192.0.2.99", NODE_NAME: "node-z" });
    const view = runtime({
      sandbox: sandbox({ ips: [], hostNetwork: true }),
      containers: [container({ environment })],
    });
    const { status, metadata, resource } = join({ runtime: view, api: null, apiAway: AWAY, owner: null });
    expect(status?.ips).toEqual([]);
    expect(resource["k8s.pod.ip"]).toBeUndefined();
    expect(resource["k8s.node.name"]).toBe("node-a");
    expect(metadata.groups.network).toEqual({ source: "environ", observedAt: T1, declared: ["192.0.2.99"] });
    expect(metadata.groups.spec).toEqual({ source: "environ", observedAt: T1 });
  });

  test("C34: while the API is healthy a lagging file changes nothing, removal included", () => {
    const downward = { labels: map({ tier: "silver", gone: "x" }), annotations: null, observedAt: T9 };
    const { labels, metadata } = join({ api: seen({ metadata: { labels: { tier: "gold" } } }), downward });
    expect(labels).toEqual(map({ tier: "gold" }));
    expect(metadata.groups.labels?.source).toBe("api");
  });

  test("C34: API away: an equal file is the live source, a lagging one is not, a later one is", () => {
    const api = seen({ metadata: { labels: { tier: "gold" } } });
    const at = (tier: string, observedAt: string) =>
      join({ api, apiAway: AWAY, downward: { labels: map({ tier }), annotations: null, observedAt } });
    expect(at("gold", T1).metadata.groups.labels).toEqual({ source: "downward", observedAt: T1 });
    expect(at("silver", T1).labels).toEqual(map({ tier: "gold" }));
    expect(at("silver", T1).metadata.groups.labels).toEqual({ source: "cache", observedAt: T0 });
    expect(at("platinum", T9).labels).toEqual(map({ tier: "platinum" }));
    expect(at("platinum", T9).metadata.groups.labels?.source).toBe("downward");
  });

  test("API away at the start: files before the sandbox's labels", () => {
    const labels = map({ app: "cart", tier: "gold" });
    const annotations = map({ team: "data", "kubernetes.io/config.seen": T0, "kubernetes.io/config.source": "api" });
    const downward = { labels, annotations, observedAt: T1 };
    const workload = join({ api: null, apiAway: AWAY, owner: null, downward });
    expect(workload.labels).toEqual(labels);
    expect(workload.annotations).toEqual(map({ team: "data" }));
    expect(workload.metadata.groups).toMatchObject({
      labels: { source: "downward", observedAt: T1 },
      annotations: { source: "downward", observedAt: T1 },
    });
    expect(workload.metadata.complete).toBe(false);
  });

  test("API away: the last record stays as cache; whole again after", () => {
    const away = join({ apiAway: AWAY, owner: DEPLOYED });
    expect(away.metadata).toMatchObject({ complete: false, reason: `API server away: ${AWAY.reason}` });
    for (const name of ["spec", "labels", "annotations", "status", "owner"] as const) {
      expect(away.metadata.groups[name]?.source).toBe("cache");
    }
    expect(away.metadata.groups.network?.source).toBe("cri");
    expect(away.containers[0]?.resources?.cpu.requestDesired).toBe(0.01);
    expect(join({ owner: DEPLOYED, previous: away }).metadata.complete).toBe(true);
  });

  test("API away: the kubelet's Pods API is used unless it is older", () => {
    const newer = { metadata: { resourceVersion: "400", labels: { tier: "new" } }, status: { phase: "Running" } };
    const workload = join({ apiAway: AWAY, kubelet: seen(newer, T1) });
    expect(workload.labels).toEqual(map({ tier: "new" }));
    expect(workload.metadata.groups).toMatchObject({ spec: { source: "podsApi", observedAt: T1 } });
    const older = { metadata: { resourceVersion: "99", labels: { tier: "old" } } };
    expect(join({ apiAway: AWAY, kubelet: seen(older, T1) }).metadata.groups.labels?.source).toBe("cache");
  });

  test("records that are gone live on from what was joined before", () => {
    const previous = join({ owner: DEPLOYED });
    const workload = join({ api: null, owner: null, previous });
    expect(workload.labels).toEqual(map({ app: "cart" }));
    expect(workload.resource["k8s.deployment.name"]).toBe("cart");
    expect(workload.status?.qosClass).toBe("Burstable");
    expect(workload.containers[0]).toMatchObject({ type: "app", resources: { cpu: { requestDesired: 0.01 } } });
    expect(workload.metadata.groups.owner).toEqual({ source: "cache", observedAt: T1 });
    expect(workload.metadata.complete).toBe(false);
  });

  test("C31, C43: observed and declared addresses both stand as given", () => {
    const api = seen({ status: { podIPs: [{ ip: "192.0.2.70" }] } });
    const { status, metadata } = join({ runtime: runtime({ sandbox: sandbox({ ips: ["192.0.2.71"] }) }), api });
    expect(status?.ips).toEqual(["192.0.2.71"]);
    expect(metadata.groups.network).toEqual({ source: "cri", observedAt: T1, declared: ["192.0.2.70"] });
  });

  test("C48: a label that moves between two pods follows at once, by UID", () => {
    const at = (role: string, previous = join()) => join({ api: seen({ metadata: { labels: { role } } }), previous });
    expect(at("replica", at("primary")).labels).toEqual(map({ role: "replica" }));
  });

  test("C45: hostile labels of the runtime are own data", () => {
    const labels = Object.assign(Object.create(null), JSON.parse('{"constructor":"y"}'));
    Object.defineProperty(labels, "__proto__", { value: "x", enumerable: true });
    const workload = join({ runtime: runtime({ sandbox: sandbox({ labels }) }), api: null, owner: null });
    expect(Object.getPrototypeOf(workload.labels)).toBeNull();
    expect(JSON.stringify(workload.labels)).toBe('{"constructor":"y","__proto__":"x"}');
  });

  test("no source knows the pod: no workload", () => {
    expect(joinPod(input({ runtime: null, api: null }))).toBeNull();
  });

  test("a record of another pod is not used", () => {
    const other = seen({ metadata: { uid: "2222", labels: { other: "yes" } } });
    const { labels, metadata } = join({ api: other, owner: OWNERLESS });
    expect(labels).toEqual(map({ app: "cart" }));
    expect(metadata.reason).toBe("the API server has not shown this pod");
  });
});
