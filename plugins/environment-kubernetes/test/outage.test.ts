import { describe, expect, it } from "vitest";
import { apiPod, openScene, PODS, watchScene } from "./world.ts";

const A = "aaaaaaaa-0000-4000-8000-000000000001";
const B = "bbbbbbbb-0000-4000-8000-000000000002";
const REDIS = { redis: "registry.example.test/redis:7.0" };

describe("an API server that is away", () => {
  it("C22: at start, leaves pods incomplete with the reason, and whole after it came", async () => {
    await using scene = await openScene();
    await scene.api.stop();
    scene.runtime.run(A, "cart-0", REDIS, { labels: { app: "cart" } });
    await using run = await watchScene(scene);
    await run.synced();
    await expect.poll(() => run.last(A)?.metadata.reason).toMatch(/^API server away/);
    expect(run.last(A)).toMatchObject({
      labels: { app: "cart" },
      metadata: { complete: false, groups: { labels: { source: "cri" } } },
    });
    await scene.api.start();
    scene.api.put(PODS, apiPod(A, "cart-0", { labels: { app: "cart", tier: "gold" } }));
    await expect.poll(() => run.last(A)?.metadata.complete).toBe(true);
    expect(run.last(A)?.labels["tier"]).toBe("gold");
  });

  it("in the middle, leaves what it said as cached, names downward files that agree, and is whole again after", async () => {
    await using scene = await openScene();
    const volumes = [
      { name: "info", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
    ];
    scene.runtime.run(A, "cart-0", REDIS);
    scene.api.put(PODS, apiPod(A, "cart-0", { labels: { app: "cart" }, annotations: { team: "data" }, volumes }));
    scene.files.set(`/kubelet/pods/${A}/volumes/kubernetes.io~downward-api/info/labels`, 'app="cart"\n');
    await using run = await watchScene(scene, { kubelet: { root: "/kubelet" } });
    await run.synced();
    expect(run.last(A)?.metadata.groups.labels?.source).toBe("api");
    await scene.api.stop();
    await expect.poll(() => run.last(A)?.metadata.groups.labels?.source).toBe("downward");
    expect(run.last(A)).toMatchObject({
      labels: { app: "cart" },
      annotations: { team: "data" },
      metadata: { complete: false, groups: { annotations: { source: "cache" }, spec: { source: "cache" } } },
    });
    await scene.api.start();
    await expect
      .poll(() => run.last(A)?.metadata)
      .toMatchObject({ complete: true, groups: { labels: { source: "api" } } });
    expect(run.events.filter(({ type }) => type !== "updated").map(({ type }) => type)).toEqual(["added", "synced"]);
  });

  it("does not keep a pod that the runtime has given up", async () => {
    await using scene = await openScene();
    scene.runtime.run(A, "cart-0", REDIS);
    scene.api.put(PODS, apiPod(A, "cart-0"));
    await using run = await watchScene(scene);
    await run.synced();
    await scene.api.stop();
    await expect.poll(() => run.last(A)?.metadata.complete).toBe(false);
    scene.runtime.exit(A, 0);
    scene.runtime.remove(A);
    await expect.poll(() => run.removed()).toEqual([A]);
    expect(run.last(A)?.lifecycle).toBe("ended");
  });

  it("and is not wanted, is said to be switched off", async () => {
    await using scene = await openScene({ api: false });
    scene.runtime.run(A, "cart-0", REDIS);
    await using run = await watchScene(scene, { api: false });
    await run.synced();
    expect(run.last(A)?.metadata).toMatchObject({ complete: false, reason: "API server away: switched off" });
  });
});

describe("a runtime that is away", () => {
  it("keeps its pods, and is compared when it is back", async () => {
    await using scene = await openScene();
    scene.runtime.run(A, "cart-0", REDIS);
    scene.runtime.run(B, "cart-1", REDIS);
    scene.api.put(PODS, apiPod(A, "cart-0"));
    await using run = await watchScene(scene);
    await run.synced();
    scene.runtime.away = true;
    scene.runtime.restart();
    scene.runtime.remove(B);
    scene.api.put(PODS, apiPod(A, "cart-0", { labels: { still: "here" } }));
    await expect.poll(() => run.last(A)?.labels["still"]).toBe("here");
    expect(run.last(A)?.lifecycle).toBe("running");
    expect(run.removed()).toEqual([]);
    const sources = (): unknown => [
      run.last(A)?.metadata.groups.identity?.source,
      run.last(A)?.metadata.groups.network?.source,
    ];
    expect(sources()).toEqual(["cache", "cache"]);
    scene.runtime.away = false;
    await expect.poll(() => run.removed()).toEqual([B]);
    await expect.poll(() => sources()).toEqual(["cri", "cri"]);
  });

  it("C70: absent at start leaves the rest waiting until it comes", async () => {
    await using scene = await openScene();
    scene.runtime.away = true;
    scene.runtime.run(A, "cart-0", REDIS);
    scene.api.put(PODS, apiPod(A, "cart-0"));
    await using run = await watchScene(scene, { discovery: "cri" });
    await expect.poll(() => run.environment.describe()).toContain("no container runtime answers");
    scene.runtime.away = false;
    await run.synced();
    expect(run.last(A)?.lifecycle).toBe("running");
  });
});

describe("no runtime's socket", () => {
  const id = "8".repeat(64);
  const running = [
    {
      name: "redis",
      containerID: `containerd://${id}`,
      image: "redis",
      state: { running: { startedAt: "2026-11-30T22:00:00Z" } },
    },
  ];

  it("is replaced by the API server and the cgroup tree, and the plan says so", async () => {
    await using scene = await openScene();
    scene.runtime.away = true;
    scene.api.put(PODS, apiPod(A, "cart-0", { statuses: running }));
    scene.cgroups.set(A, {
      path: `/kubepods/pod${A}`,
      containers: new Map([[id, { path: `/kubepods/pod${A}/${id}`, pid: 77 }]]),
    });
    await using run = await watchScene(scene);
    await run.synced();
    expect(run.environment.describe()).toMatch(/^API server and cgroup tree, as no container runtime answers/);
    expect(run.last(A)).toMatchObject({
      lifecycle: "running",
      handle: { cgroup: `/kubepods/pod${A}` },
      containers: [{ id, handle: { pid: 77, cgroup: `/kubepods/pod${A}/${id}` } }],
    });
    const ended = [{ ...running[0], state: { terminated: { exitCode: 1, reason: "Error" } } }];
    scene.api.put(PODS, apiPod(A, "cart-0", { statuses: ended, phase: "Failed" }));
    await expect
      .poll(() => run.last(A))
      .toMatchObject({ lifecycle: "ended", containers: [{ state: { exitCode: 1 } }] });
    scene.api.delete(PODS, A);
    await expect.poll(() => run.removed()).toEqual([A]);
  });

  it("looks again for a container that has no cgroup yet", async () => {
    await using scene = await openScene();
    scene.api.put(PODS, apiPod(A, "cart-0", { statuses: running }));
    await using run = await watchScene(scene, { discovery: "api" });
    await run.synced();
    expect(run.last(A)?.containers[0]?.handle.pid).toBeUndefined();
    scene.cgroups.set(A, {
      path: `/kubepods/pod${A}`,
      containers: new Map([[id, { path: `/kubepods/pod${A}/${id}`, pid: 77 }]]),
    });
    await expect.poll(() => run.last(A)?.containers[0]?.handle.pid).toBe(77);
  });
});
