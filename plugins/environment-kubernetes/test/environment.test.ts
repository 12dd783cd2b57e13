import { TrawlerError } from "@trawler/plugin-api";
import { environmentContract } from "@trawler/testkit";
import { describe, expect, it } from "vitest";
import { kubernetesEnvironment } from "../src/definition.ts";
import { apiPod, openScene, PODS, replicaSet, type Scene, watchScene } from "./world.ts";

const A = "aaaaaaaa-0000-4000-8000-000000000001";
const B = "bbbbbbbb-0000-4000-8000-000000000002";
const REDIS = { redis: "registry.example.test/redis:7.0" };
const SETS = "/apis/apps/v1/namespaces/shop/replicasets";

describe("contract", () => {
  let scene: Scene | undefined;
  const plugin = kubernetesEnvironment(async () => {
    if (scene === undefined) throw new Error("no scene");
    return scene.world();
  });
  const cases = environmentContract(plugin, {
    world: async () => {
      const opened = await openScene();
      scene = opened;
      opened.runtime.run(A, "cart-0", REDIS);
      opened.api.put(PODS, apiPod(A, "cart-0"));
      return {
        host: opened.host,
        takeAway: async () => {
          opened.runtime.exit(A, 0);
          opened.api.delete(PODS, A);
          opened.runtime.remove(A);
        },
        [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
      };
    },
  });
  for (const { name, run } of cases) it(name, run);
});

describe("a pod of runtime and API server", () => {
  it("is reported with what each says, then with its Deployment", async () => {
    await using scene = await openScene();
    scene.runtime.run(A, "cart-0", REDIS, { labels: { app: "old" } });
    scene.api.put(PODS, apiPod(A, "cart-0", { labels: { app: "cart" }, owner: "cart-67df" }));
    scene.api.put(SETS, replicaSet("cart-67df", "cart"));
    await using run = await watchScene(scene);
    await run.synced();
    expect(run.last(A)).toMatchObject({
      kind: "pod",
      name: "shop/cart-0",
      lifecycle: "running",
      handle: { podUid: A, pid: 900, cgroup: `/kubepods/pod${A}` },
      labels: { app: "cart" },
      resource: { "k8s.deployment.name": "cart", "k8s.pod.ip": "10.88.0.9", "k8s.node.name": "node-a" },
      containers: [{ name: "redis", state: { status: "running" }, handle: { pid: 1001 } }],
      metadata: { complete: true, reason: null, groups: { identity: { source: "cri" }, labels: { source: "api" } } },
    });
    expect(run.environment.describe()).toContain("containerd 2.4.2 at /run/fake.sock; API server http://");
  });

  it("causes one list, one watch and one GET per distinct owner, for 50 pods of 5 Deployments", async () => {
    await using scene = await openScene();
    for (let index = 0; index < 50; index += 1) {
      const uid = `aaaaaaaa-0000-4000-8000-${String(index).padStart(12, "0")}`;
      const set = `set-${index % 5}`;
      scene.runtime.run(uid, `pod-${index}`, { ...REDIS, sidecar: "busybox:1" });
      scene.api.put(PODS, apiPod(uid, `pod-${index}`, { owner: set }));
      scene.api.put(SETS, replicaSet(set, `app-${index % 5}`));
    }
    await using run = await watchScene(scene);
    await run.synced();
    const pods = run.events.flatMap((event) => (event.type === "added" ? [event.workload.id] : []));
    expect(new Set(pods).size).toBe(50);
    await expect.poll(() => pods.every((id) => run.last(id)?.metadata.complete)).toBe(true);
    const verbs = scene.api.requests.map(({ verb, path }) => (verb === "get" ? "get" : `${verb} ${path}`));
    expect(verbs.filter((verb) => verb === `list ${PODS}`)).toHaveLength(1);
    expect(verbs.filter((verb) => verb === `watch ${PODS}`)).toHaveLength(1);
    expect(verbs.filter((verb) => verb === "get")).toHaveLength(5);
    expect(scene.api.requests[0]?.query.get("fieldSelector")).toBe("spec.nodeName=node-a");
  });

  it("C27: that lives two seconds and that the API never mentions is added running and updated with its exit", async () => {
    await using scene = await openScene();
    await using run = await watchScene(scene);
    await run.synced();
    scene.runtime.run(B, "job-x", REDIS);
    await expect.poll(() => run.last(B)?.lifecycle).toBe("running");
    scene.runtime.exit(B, 3);
    await expect.poll(() => run.last(B)?.lifecycle).toBe("ended");
    expect(run.of(B)[0]).toMatchObject({ name: "shop/job-x", containers: [{ handle: { pid: 1001 } }] });
    expect(run.last(B)).toMatchObject({
      containers: [{ state: { status: "terminated", exitCode: 3, reason: "Error" } }],
      metadata: { complete: false },
    });
    scene.runtime.remove(B);
    await expect.poll(() => run.removed()).toEqual([B]);
  });

  it("C34: shows an edited label once, and a removed one no more", async () => {
    await using scene = await openScene();
    scene.runtime.run(A, "cart-0", REDIS);
    scene.api.put(PODS, apiPod(A, "cart-0", { labels: { tier: "gold" } }));
    await using run = await watchScene(scene);
    await run.synced();
    const before = run.of(A).length;
    scene.api.put(PODS, apiPod(A, "cart-0", { labels: {} }));
    await expect.poll(() => run.of(A)).toHaveLength(before + 1);
    expect({ ...run.last(A)?.labels }).toEqual({});
  });

  it("C28: that has completed stays until its record goes", async () => {
    await using scene = await openScene();
    scene.runtime.run(A, "job-0", REDIS);
    scene.api.put(PODS, apiPod(A, "job-0", { restartPolicy: "Never" }));
    await using run = await watchScene(scene);
    await run.synced();
    scene.runtime.exit(A, 0);
    scene.api.put(PODS, apiPod(A, "job-0", { restartPolicy: "Never", phase: "Succeeded" }));
    await expect.poll(() => run.last(A)).toMatchObject({ lifecycle: "ended", status: { phase: "Succeeded" } });
    scene.runtime.remove(A);
    scene.runtime.run(B, "other-0", REDIS);
    await expect.poll(() => run.last(B)).toBeDefined();
    expect(run.removed()).toEqual([]);
    expect(run.last(A)?.containers[0]?.state.exitCode).toBe(0);
    scene.api.delete(PODS, A);
    await expect.poll(() => run.removed()).toEqual([A]);
  });

  it("C07: made anew under the same name is another pod", async () => {
    await using scene = await openScene();
    scene.runtime.run(A, "db-0", REDIS);
    scene.api.put(PODS, apiPod(A, "db-0", { labels: { run: "first" } }));
    await using run = await watchScene(scene);
    await run.synced();
    scene.runtime.run(B, "db-0", REDIS);
    scene.api.put(PODS, apiPod(B, "db-0", { labels: { run: "second" } }));
    scene.runtime.exit(A, 0);
    scene.api.delete(PODS, A);
    scene.runtime.remove(A);
    await expect.poll(() => run.removed()).toEqual([A]);
    await expect.poll(() => run.last(B)?.labels["run"]).toBe("second");
    expect(run.of(A).every(({ labels }) => labels["run"] !== "second")).toBe(true);
    expect(run.of(B).every(({ labels }) => labels["run"] !== "first")).toBe(true);
  });

  it("C37: static, is one pod with its mirror's labels", async () => {
    await using scene = await openScene();
    const hash = "a1b2c3d4e5f60718293a4b5c6d7e8f90";
    scene.runtime.run(hash, "etcd-node-a", REDIS, { annotations: { "kubernetes.io/config.source": "file" } });
    const marks = { "kubernetes.io/config.hash": hash, "kubernetes.io/config.mirror": hash };
    scene.api.put(PODS, apiPod(B, "etcd-node-a", { labels: { tier: "control" }, annotations: marks }));
    await using run = await watchScene(scene);
    await run.synced();
    expect(run.events.flatMap((event) => (event.type === "added" ? [event.workload.id] : []))).toEqual([hash]);
    expect(run.last(hash)).toMatchObject({
      labels: { tier: "control" },
      status: { static: true },
      metadata: { complete: true },
    });
  });

  it("C40: evicted before anything ran, is reported without containers' ids", async () => {
    await using scene = await openScene();
    await using run = await watchScene(scene);
    await run.synced();
    scene.api.put(PODS, apiPod(A, "cart-0", { phase: "Failed" }));
    await expect.poll(() => run.last(A)).toMatchObject({ lifecycle: "ended", containers: [{ id: null }] });
  });

  it("that a new rule leaves out goes", async () => {
    await using scene = await openScene();
    scene.runtime.run(A, "cart-0", REDIS);
    scene.api.put(PODS, apiPod(A, "cart-0", { labels: { app: "cart" } }));
    await using run = await watchScene(scene, { exclude: { labels: { quiet: "*" } } });
    await run.synced();
    scene.api.put(PODS, apiPod(A, "cart-0", { labels: { app: "cart", quiet: "yes" } }));
    await expect.poll(() => run.removed()).toEqual([A]);
  });
});

describe("detection", () => {
  it("says whether a runtime answers", async () => {
    await using scene = await openScene();
    const plugin = kubernetesEnvironment(async () => scene.world());
    const { detect, config } = plugin;
    const context = { signal: new AbortController().signal, log: scene.host.log };
    const settings = config.parse({});
    expect(await detect?.(settings, scene.host, context)).toEqual({
      found: true,
      detail: "containerd 2.4.2 at /run/fake.sock",
    });
    scene.runtime.away = true;
    expect(await detect?.(settings, scene.host, context)).toMatchObject({ found: false });
    const broken = kubernetesEnvironment(async () => {
      throw new TrawlerError("TRAWLER_CONFIG_INVALID", "kubeconfig");
    });
    await expect(broken.create(settings, scene.host)).rejects.toMatchObject({ code: "TRAWLER_CONFIG_INVALID" });
  });
});
