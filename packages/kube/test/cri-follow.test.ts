import { describe, expect, it } from "vitest";
import { sleep } from "../src/api/deadline.ts";
import { followRuntime, type RuntimeEvent } from "../src/cri/follow.ts";
import type { ContainerEvent } from "../src/cri/messages.ts";
import type { RuntimePod } from "../src/join/runtime.ts";
import { type Capture, capture, FakeRuntime, quiet, realClock } from "./cri-fake.ts";

const containerd = capture("containerd");
const SHOP = "9a71d5e5-4e2b-4b78-ad85-7d8e64c008a4";
const BRIEF = "9f589f92-e4c7-46e7-ba36-c1651f7d739f";

interface Run extends AsyncDisposable {
  readonly events: RuntimeEvent[];
  readonly of: (uid: string) => RuntimePod[];
  readonly last: (uid: string) => RuntimePod | undefined;
  readonly synced: () => Promise<void>;
}

function follow(runtime: FakeRuntime, options: { poll?: number; compare?: number } = {}): Run {
  const stop = new AbortController();
  const events: RuntimeEvent[] = [];
  const done = followRuntime({
    open: async () => runtime.open(),
    onEvent: (event) => events.push(event),
    clock: realClock,
    log: quiet,
    signal: stop.signal,
    pollInterval: options.poll ?? 20,
    compareInterval: options.compare ?? 60_000,
    random: () => 0,
  });
  const of = (uid: string): RuntimePod[] =>
    events.flatMap((event) => (event.type === "pod" && event.pod.uid === uid ? [event.pod] : []));
  return {
    events,
    of,
    last: (uid) => of(uid).at(-1),
    synced: () => expect.poll(() => events.some(({ type }) => type === "synced")).toBe(true),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await done;
    },
  };
}

/** Only the pod `shop`, as before the other one was made. */
function before(): Capture {
  const shop = (item: { labels: Readonly<Record<string, string>> }): boolean =>
    item.labels["io.kubernetes.pod.uid"] === SHOP;
  return {
    ...containerd,
    sandboxes: containerd.sandboxes.filter(shop),
    containers: containerd.containers.filter(shop),
  };
}

/** The captured events as if they happened now. */
function fresh(): ContainerEvent[] {
  return containerd.events.map((event) => ({ ...event, createdAt: `${Date.now() + 60_000}000000` }));
}

describe("following a runtime", () => {
  it("subscribes before it lists, and reports each pod with pid, cgroup and address", async () => {
    const runtime = new FakeRuntime(containerd);
    await using run = follow(runtime);
    await run.synced();
    expect(runtime.calls.indexOf("GetContainerEvents")).toBeLessThan(runtime.calls.indexOf("ListPodSandbox"));
    expect(run.events.at(-1)).toMatchObject({ type: "synced", runtime: { name: "containerd" } });
    expect(run.last(SHOP)).toMatchObject({
      source: "cri",
      namespace: "default",
      name: "shop",
      sandbox: { ips: ["10.88.0.2"], cgroup: `/kubepods/besteffort/pod${SHOP}` },
      containers: [
        { name: "redis", state: "running", pid: 16813 },
        { name: "busybox", state: "running", pid: 16839 },
      ],
    });
  });

  it("asks for an image once, however many containers run it and however often they change", async () => {
    const runtime = new FakeRuntime(containerd);
    const images = new Set(containerd.containers.map(({ imageRef }) => imageRef));
    for (const id of images) runtime.imageStatuses.set(id, { image: { id, repoTags: ["a:1"], size: "7" }, info: {} });
    await using run = follow(runtime);
    await run.synced();
    for (const event of fresh()) runtime.send(event);
    await expect.poll(() => run.last(BRIEF)?.sandbox?.state).toBe("notready");
    const [redis] = run.last(SHOP)?.containers ?? [];
    // Without a function that redacts them, commands are not told.
    expect(redis).toMatchObject({
      inspection: { source: "cri", commandLine: ["[redacted]"] },
      imageInspection: { source: "cri", tags: ["a:1"], size: 7 },
    });
    expect(run.last(BRIEF)?.containers.at(-1)).toMatchObject({ state: "exited", imageInspection: { size: 7 } });
    expect(runtime.calls.filter((call) => call.startsWith("ImageStatus"))).toHaveLength(images.size);
  });

  it("C54: no sandbox is among a pod's containers", async () => {
    const runtime = new FakeRuntime(before());
    await using run = follow(runtime);
    await run.synced();
    for (const event of fresh()) runtime.send(event);
    await expect.poll(() => run.last(BRIEF)?.sandbox?.state).toBe("notready");
    const ids = new Set(run.of(BRIEF).flatMap((pod) => pod.containers.map(({ name }) => name)));
    expect([...ids]).toEqual(["prepare", "work"]);
  });

  it("C27: a pod of two seconds is reported running, with its pid, and then with its exit code", async () => {
    const runtime = new FakeRuntime(before());
    const work = containerd.containerStatuses.find(({ status }) => status?.metadata?.name === "work");
    if (work?.status == null) throw new Error("fixture");
    const running = { ...work.status, state: "CONTAINER_RUNNING", exitCode: 0, reason: "", finishedAt: "0" };
    runtime.containerStatuses.set(work.status.id, {
      status: running,
      info: { info: '{"pid":777,"runtimeSpec":{"linux":{"cgroupsPath":"/kubepods/pod1/work"}}}' },
    });
    await using run = follow(runtime);
    await run.synced();
    const events = fresh();
    for (const event of events.slice(0, 7)) runtime.send(event);
    await expect
      .poll(() => run.last(BRIEF)?.containers.at(-1))
      .toMatchObject({ name: "work", state: "running", pid: 777 });
    for (const event of events.slice(7)) runtime.send(event);
    await expect
      .poll(() => run.last(BRIEF)?.containers.at(-1))
      .toMatchObject({
        state: "exited",
        exitCode: 3,
        reason: "Error",
        pid: null,
      });
    expect(run.last(BRIEF)?.sandbox?.state).toBe("notready");
  });

  it("reports an exit although the status of another container does not come", async () => {
    const runtime = new FakeRuntime(before());
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using run = follow(runtime);
    await run.synced();
    runtime.before = (call) => (call.startsWith("PodSandboxStatus") ? held : undefined);
    for (const event of fresh().slice(0, 8)) runtime.send(event);
    await expect.poll(() => run.last(BRIEF)?.containers.at(-1)?.exitCode).toBe(3);
    release();
  });

  it("ignores a backlog of events that are older than its list", async () => {
    const runtime = new FakeRuntime(before());
    await using run = follow(runtime);
    await run.synced();
    for (const event of containerd.events) runtime.send({ ...event, createdAt: "1796079482961946864" });
    const [first] = fresh();
    if (first !== undefined) runtime.send(first);
    await expect.poll(() => run.of(BRIEF).length).toBeGreaterThan(0);
    expect(run.last(BRIEF)?.containers).toEqual([]);
  });

  it("never brings a deleted container or an earlier state back", async () => {
    const runtime = new FakeRuntime(before());
    await using run = follow(runtime);
    await run.synced();
    const events = fresh();
    for (const event of events) runtime.send(event);
    const [sandbox] = events;
    const prepare = events[2];
    if (sandbox === undefined || prepare === undefined) throw new Error("fixture");
    runtime.send({ ...prepare, containerEventType: "CONTAINER_DELETED_EVENT", containersStatuses: [] });
    for (const event of events.slice(2, 4)) runtime.send(event);
    await expect.poll(() => run.last(BRIEF)?.containers.map(({ name }) => name)).toEqual(["work"]);
    expect(run.last(BRIEF)?.containers[0]?.state).toBe("exited");
    for (const containerId of [events[5]?.containerId ?? "", sandbox.containerId]) {
      runtime.send({
        ...sandbox,
        containerId,
        containerEventType: "CONTAINER_DELETED_EVENT",
        podSandboxStatus: null,
      });
    }
    await expect.poll(() => run.events.at(-1)).toMatchObject({ type: "gone", pod: { uid: BRIEF } });
  });

  it("keeps what it knows while the runtime is away, and compares when it is back", async () => {
    const runtime = new FakeRuntime(containerd);
    await using run = follow(runtime);
    await run.synced();
    const only = before();
    runtime.sandboxes = [...only.sandboxes];
    runtime.containers = [...only.containers];
    runtime.cut();
    await expect.poll(() => run.events.filter(({ type }) => type === "synced")).toHaveLength(2);
    expect(run.events.some(({ type }) => type === "away")).toBe(true);
    expect(run.events.filter(({ type }) => type === "gone")).toMatchObject([{ pod: { uid: BRIEF } }]);
    expect(run.of(SHOP)).toHaveLength(1);
  });

  it("waits longer each time where the runtime answers and its events fail at once", async () => {
    const runtime = new FakeRuntime(containerd);
    runtime.events = "broken";
    const stop = new AbortController();
    const waits: number[] = [];
    await followRuntime({
      open: async () => runtime.open(),
      onEvent: () => {},
      clock: realClock,
      log: quiet,
      signal: stop.signal,
      random: () => 1,
      sleep: async (milliseconds, signal) => {
        // A session's own waits end with it.
        if (signal !== stop.signal) return sleep(milliseconds, signal);
        if (waits.push(milliseconds) === 4) stop.abort();
      },
    });
    expect(waits).toEqual([100, 800, 1600, 3200]);
  });

  it("polls where the runtime sends no events, and reads a status once per state", async () => {
    const runtime = new FakeRuntime(containerd);
    runtime.events = "unsupported";
    await using run = follow(runtime);
    await run.synced();
    const lists = (): number => runtime.calls.filter((call) => call === "ListContainers").length;
    const reads = runtime.calls.filter((call) => call.startsWith("ContainerStatus")).length;
    await expect.poll(() => lists()).toBeGreaterThan(3);
    expect(runtime.calls.filter((call) => call.startsWith("ContainerStatus"))).toHaveLength(reads);
    expect(run.events.filter(({ type }) => type === "away")).toEqual([]);
    const redis = runtime.containers[0];
    const response = redis === undefined ? undefined : runtime.containerStatuses.get(redis.id);
    const status = response?.status ?? null;
    if (redis === undefined || response === undefined || status === null) throw new Error("fixture");
    const exited = { ...status, state: "CONTAINER_EXITED", exitCode: 137, reason: "OOMKilled" };
    runtime.containerStatuses.set(redis.id, { ...response, status: exited });
    runtime.containers = runtime.containers.map((item) =>
      item === redis ? { ...item, state: "CONTAINER_EXITED" } : item,
    );
    await expect.poll(() => run.last(SHOP)?.containers[0]).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
  });

  it("shows a container of which the runtime has lost track, and its return", async () => {
    const runtime = new FakeRuntime(before());
    runtime.events = "unsupported";
    await using run = follow(runtime);
    await run.synced();
    const redis = runtime.containers[0];
    const response = redis === undefined ? undefined : runtime.containerStatuses.get(redis.id);
    const status = response?.status ?? null;
    if (redis === undefined || response === undefined || status === null) throw new Error("fixture");
    const turn = (state: string): void => {
      runtime.containerStatuses.set(redis.id, { ...response, status: { ...status, state } });
      runtime.containers = runtime.containers.map((item) => (item.id === redis.id ? { ...item, state } : item));
    };
    turn("CONTAINER_UNKNOWN");
    await expect.poll(() => run.last(SHOP)?.containers[0]).toMatchObject({ state: "unknown", pid: null });
    turn("CONTAINER_RUNNING");
    await expect.poll(() => run.last(SHOP)?.containers[0]).toMatchObject({ state: "running", pid: 16813 });
  });

  it("begins anew where whoever is told throws", async () => {
    const runtime = new FakeRuntime(before());
    const stop = new AbortController();
    const seen: string[] = [];
    const done = followRuntime({
      open: async () => runtime.open(),
      onEvent: (event) => {
        seen.push(event.type);
        if (event.type === "pod" && event.pod.uid === BRIEF && !seen.includes("away")) throw new Error("told");
      },
      clock: realClock,
      log: quiet,
      signal: stop.signal,
      random: () => 0,
    });
    await expect.poll(() => seen).toContain("synced");
    for (const event of fresh()) runtime.send(event);
    await expect.poll(() => seen).toContain("away");
    await expect.poll(() => seen.lastIndexOf("synced")).toBeGreaterThan(seen.indexOf("away"));
    stop.abort();
    await done;
  });

  it("forgets what goes away between list and status", async () => {
    const runtime = new FakeRuntime(containerd);
    runtime.containerStatuses.delete(containerd.containers[0]?.id ?? "");
    await using run = follow(runtime);
    await run.synced();
    expect(run.last(SHOP)?.containers.map(({ name }) => name)).toEqual(["busybox"]);
  });

  it("C42: of two sandboxes of one pod the latest attempt counts", async () => {
    const runtime = new FakeRuntime(before());
    const [ready] = runtime.sandboxes;
    const status = ready === undefined ? undefined : runtime.sandboxStatuses.get(ready.id);
    if (ready?.metadata == null || status?.status == null) throw new Error("fixture");
    const id = "e".repeat(64);
    const next = { ...ready, id, metadata: { ...ready.metadata, attempt: 1 } };
    runtime.sandboxes = [next, { ...ready, state: "SANDBOX_NOTREADY" }];
    runtime.sandboxStatuses.set(id, {
      ...status,
      status: { ...status.status, ...next, network: { ip: "10.88.0.21", additionalIps: [] } },
    });
    await using run = follow(runtime);
    await run.synced();
    expect(run.last(SHOP)?.sandbox).toMatchObject({ id, attempt: 1, ips: ["10.88.0.21"] });
  });
});

describe("other runtimes", () => {
  it("CRI-O with the systemd driver", async () => {
    await using run = follow(new FakeRuntime(capture("crio")));
    await run.synced();
    const slice =
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2b1c9e40_5f0a_4c1e_9d3b_6f7a8b9c0d1e.slice";
    expect(run.last("2b1c9e40-5f0a-4c1e-9d3b-6f7a8b9c0d1e")).toMatchObject({
      sandbox: { runtimeName: "cri-o", cgroup: slice, ips: ["10.88.0.40", "2001:db8::40"] },
      containers: [
        {
          image: "registry.example.test/redis:7.0",
          digest: `sha256:${"d".repeat(64)}`,
          pid: 4202,
          attempt: 1,
          cgroup: `${slice}/crio-${"b".repeat(64)}.scope`,
          environment: { POD_NAME: "cart-0" },
        },
      ],
    });
  });

  it("Docker through cri-dockerd, whose status calls a running sandbox not ready", async () => {
    await using run = follow(new FakeRuntime(capture("dockerd")));
    await run.synced();
    expect(run.last("2b1c9e40-5f0a-4c1e-9d3b-6f7a8b9c0d1e")).toMatchObject({
      sandbox: { runtimeName: "docker", state: "ready", ips: ["10.88.0.41"], cgroup: null },
      containers: [
        { image: "registry.example.test/redis:7.0", state: "running", pid: 5202, cgroup: null, finishedAt: null },
      ],
    });
  });
});
