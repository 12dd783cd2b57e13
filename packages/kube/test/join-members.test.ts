import { describe, expect, test } from "vitest";
import { createPodIndex } from "../src/join/pod-index.ts";
import { sameWorkload } from "../src/join/same.ts";
import { container, exited, IDS, join, map, record, runtime, sandbox, seen, T0, T1, UID } from "./join-fixtures.ts";

const HASH = "a1b2c3d4e5f60718293a4b5c6d7e8f90";
const MIRROR = { "kubernetes.io/config.hash": HASH, "kubernetes.io/config.mirror": HASH };

describe("static pods", () => {
  test("C37: the mirror is found by its hash; one pod, keyed as the node keeps it", () => {
    const index = createPodIndex();
    index.put(record({ metadata: { uid: "5f0c", annotations: MIRROR } }), 0);
    const view = runtime({ sandbox: sandbox({ uid: HASH }) });
    const workload = join({ runtime: view, api: index.find(view) });
    expect(workload).toMatchObject({ id: HASH, status: { static: true }, metadata: { complete: true } });
    expect(workload.resource).toMatchObject({ "k8s.pod.uid": HASH, "trawler.mirror.uid": "5f0c" });
    expect(workload.annotations).toEqual(map(MIRROR));
  });

  test("C39: a mirror made anew with another manifest is another pod", () => {
    const index = createPodIndex();
    const second = HASH.replaceAll("a", "b");
    const marks = { "kubernetes.io/config.hash": second, "kubernetes.io/config.mirror": second };
    index.put(record({ metadata: { uid: "5f0c", annotations: MIRROR } }), 0);
    index.deleted(record({ metadata: { uid: "5f0c", annotations: MIRROR } }), 1);
    index.put(record({ metadata: { uid: "6f0c", annotations: marks } }), 1);
    expect(index.find({ uid: HASH, namespace: "shop", name: "cart-0" })).toMatchObject({ deleted: true });
    expect(index.find({ uid: second, namespace: "shop", name: "cart-0" })?.record.uid).toBe("6f0c");
    index.forget("5f0c");
    expect(index.find({ uid: HASH, namespace: "shop", name: "cart-0" })).toBeNull();
  });

  test("a mirror deleted and made anew with the same manifest stays the same pod", () => {
    const index = createPodIndex();
    index.put(record({ metadata: { uid: "1", annotations: MIRROR } }), 0);
    index.put(record({ metadata: { uid: "2", annotations: MIRROR } }), 1);
    index.deleted(record({ metadata: { uid: "1", annotations: MIRROR } }), 2);
    const pod = { uid: HASH, namespace: "shop", name: "cart-0" };
    expect(index.find(pod)?.record.uid).toBe("2");
    index.forget("1");
    expect(index.find(pod)?.record.uid).toBe("2");
  });

  test("a pod that claims another's manifest is not joined to it", () => {
    const index = createPodIndex();
    index.put(record({ metadata: { uid: "9999", name: "evil", annotations: MIRROR } }), 0);
    expect(index.find({ uid: HASH, namespace: "shop", name: "cart-0" })).toBeNull();
  });

  test("without its mirror a static pod is still known for one", () => {
    const annotations = map({ "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": HASH });
    const view = runtime({ sandbox: sandbox({ uid: HASH, annotations }) });
    const { status, annotations: shown } = join({ runtime: view, api: null, owner: null });
    expect(status?.static).toBe(true);
    expect(shown).toEqual(map({ "kubernetes.io/config.hash": HASH }));
  });
});

describe("members", () => {
  test("C157: the runtime's container counts, the API's id stays as declared, and both converge", () => {
    const api = (id: string) =>
      seen({
        status: { containerStatuses: [{ name: "redis", containerID: `containerd://${id}`, state: { running: {} } }] },
      });
    const view = runtime({ containers: [container({ id: IDS.b })] });
    const before = join({ runtime: view, api: api(IDS.c) });
    expect(before.containers.length).toBe(1);
    expect(before.containers[0]).toMatchObject({
      id: IDS.b,
      state: { status: "running" },
      handle: { containerId: IDS.b },
    });
    expect(before.containers[0]?.resource).toMatchObject({
      "container.id": IDS.b,
      "trawler.container.declared.id": IDS.c,
    });
    const after = join({ runtime: view, api: api(IDS.b), previous: before });
    expect(after.containers[0]?.resource["trawler.container.declared.id"]).toBeUndefined();
  });

  test("C157: a container that only the API declares is a member without an id, and does not run", () => {
    const containers = [{ name: "redis" }, { name: "late", image: "late:1" }];
    const statuses = [{ name: "late", containerID: "containerd://77", restartCount: 0, state: { running: {} } }];
    const workload = join({ api: seen({ spec: { containers }, status: { containerStatuses: statuses } }) });
    const late = workload.containers[1];
    expect(late).toMatchObject({ name: "late", id: null, state: { status: "unknown" }, handle: { podUid: UID } });
    expect(late?.handle.containerId).toBeUndefined();
    expect(late?.resource["container.id"]).toBeUndefined();
  });

  test("a container that never ran stays waiting however often it is looked at; one that ran is unknown", () => {
    const api = seen({ status: { phase: "Pending", containerStatuses: [] } });
    const first = join({ runtime: null, api });
    const second = join({ runtime: null, api, previous: first });
    expect(second.containers[0]?.state).toMatchObject({ status: "waiting", restarts: null });
    const view = runtime({ containers: [] });
    const lost = join({ runtime: view, api, previous: join({ api }) });
    expect(lost.containers[0]?.state).toMatchObject({ status: "unknown", startedAt: T0 });
    expect(join({ runtime: view, api, previous: lost }).containers[0]?.state.status).toBe("unknown");
  });

  test("a container whose image is known by its id alone has no image name", () => {
    const api = seen({ spec: { containers: [{ name: "redis" }] } });
    const view = runtime({ containers: [container({ image: `sha256:${"d".repeat(64)}` })] });
    const [redis] = join({ runtime: view, api }).containers;
    expect(Object.keys(redis?.resource ?? {})).toEqual([
      "k8s.container.name",
      "container.id",
      "container.runtime.name",
    ]);
  });

  test("a container that only the runtime has is a member", () => {
    const view = runtime({ containers: [container(), container({ id: IDS.b, name: "debug" })] });
    expect(join({ runtime: view }).containers.map(({ name }) => name)).toEqual(["redis", "debug"]);
  });

  test("C51, C52, C55: the sandbox is never a member whatever its image, and a container named pause is one", () => {
    const containers = [container({ name: "pause", image: "shop/pause-menu:1" })];
    const annotations = map({ "io.kubernetes.cri.podsandbox.image-name": "registry.example.test/infra/sandbox:7" });
    const view = runtime({ containers, sandbox: sandbox({ annotations }) });
    const workload = join({ runtime: view, api: null, owner: null });
    expect(workload.containers.map(({ name, id }) => [name, id])).toEqual([["pause", IDS.a]]);
    expect(workload.sandbox?.id).toBe(IDS.sandbox);
  });

  test("C54: without a sandbox a running container leads into the pod", () => {
    const workload = join({ runtime: runtime({ sandbox: sandbox({ id: "", pid: null }) }) });
    expect(workload.sandbox).toBeNull();
    expect(workload.handle.pid).toBe(200);
  });

  test("a restarted container: the newest counts, the older one is its last termination", () => {
    const old = exited({ id: IDS.b, exitCode: 137, reason: "OOMKilled" });
    const view = runtime({ containers: [old, container({ attempt: 1, startedAt: T1, createdAt: T1 })] });
    const [redis] = join({ runtime: view }).containers;
    expect(redis).toMatchObject({
      id: IDS.a,
      state: {
        status: "running",
        startedAt: T1,
        restarts: 1,
        lastTermination: { reason: "OOMKilled", exitCode: 137, finishedAt: T1 },
      },
    });
  });

  test("an exited container says code, reason and when, whatever the API still says", () => {
    const [redis] = join({ runtime: runtime({ containers: [exited({ exitCode: 3, reason: "Error" })] }) }).containers;
    expect(redis?.state).toMatchObject({
      status: "terminated",
      exitCode: 3,
      reason: "Error",
      finishedAt: T1,
      startedAt: T0,
    });
    expect(redis?.handle.pid).toBeUndefined();
  });

  test("a container that is held back before a restart waits, with the kubelet's reason", () => {
    const terminated = { exitCode: 1, reason: "Error", containerID: `containerd://${IDS.a}` };
    const state = { waiting: { reason: "CrashLoopBackOff" } };
    const statuses = [{ name: "redis", restartCount: 4, state, lastState: { terminated } }];
    const view = runtime({ containers: [exited({ exitCode: 1, reason: "Error", attempt: 4 })] });
    const workload = join({ runtime: view, api: seen({ status: { containerStatuses: statuses } }) });
    expect(workload.containers[0]?.state).toMatchObject({
      status: "waiting",
      reason: "CrashLoopBackOff",
      exitCode: null,
      restarts: 4,
      lastTermination: { reason: "Error", exitCode: 1 },
    });
    expect(workload.lifecycle).toBe("running");
  });

  test("a container that the runtime has forgotten keeps its id and how it ended", () => {
    const previous = join({ runtime: runtime({ containers: [exited({ exitCode: 7 })] }) });
    const view = runtime({ sandbox: sandbox({ state: "notready" }), containers: [] });
    const [redis] = join({ runtime: view, previous }).containers;
    expect(redis).toMatchObject({ id: IDS.a, state: { status: "terminated", exitCode: 7 } });
    const without = join({ runtime: view, api: null, owner: null, previous });
    expect(without.containers[0]).toMatchObject({ id: IDS.a, state: { exitCode: 7 } });
  });

  test("C42: a sandbox made anew is the same pod with one change of address", () => {
    const before = join({ runtime: runtime({ sandbox: sandbox({ ips: ["192.0.2.20"] }) }) });
    const again = sandbox({ id: "6".repeat(64), attempt: 1, ips: ["192.0.2.21"], pid: 300 });
    const stale = seen({ status: { podIPs: [{ ip: "192.0.2.20" }] } });
    const view = runtime({ sandbox: again, containers: [exited(), container({ id: IDS.b, attempt: 1, pid: 301 })] });
    const after = join({ runtime: view, api: stale, previous: before });
    expect(after).toMatchObject({ id: before.id, handle: { pid: 300 }, status: { ips: ["192.0.2.21"] } });
    const fresh = seen({ status: { podIPs: [{ ip: "192.0.2.21" }] } });
    expect(join({ runtime: view, api: fresh, previous: after }).status?.ips).toEqual(["192.0.2.21"]);
  });

  test("C07: nothing of the pod before passes to one of the same name", () => {
    const previous = join();
    const view = runtime({ sandbox: sandbox({ uid: "2222" }), containers: [container({ id: IDS.b })] });
    const workload = join({ runtime: view, api: null, owner: null, previous });
    expect(workload).toMatchObject({ id: "2222", containers: [{ id: IDS.b, resources: null }] });
    expect(workload.status?.phase).toBeNull();
  });

  test("C40, C49: an evicted pod has no member and an empty id is no key", () => {
    const api = seen({
      spec: { containers: [] },
      status: { phase: "Failed", reason: "Evicted", containerStatuses: [] },
    });
    const view = runtime({ containers: [container({ id: "" })] });
    expect(join({ runtime: view, api }).containers).toEqual([]);
    expect(join({ runtime: null, api })).toMatchObject({ containers: [], lifecycle: "ended", sandbox: null });
  });

  test("the age of what is said makes no difference, what is said does", () => {
    const later = join({ runtime: runtime({ observedAt: "2026-11-30T22:00:00.000Z" }) });
    expect(sameWorkload(join(), later)).toBe(true);
    expect(sameWorkload(join(), join({ api: seen({ metadata: { labels: { app: "other" } } }) }))).toBe(false);
  });
});
