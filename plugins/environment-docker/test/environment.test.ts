import { chmodSync } from "node:fs";
import { errorCode, type Workload, type WorkloadEvent } from "@trawler/plugin-api";
import { collectingLog, environmentContract, fakeClock, fakeContext, fakeHost } from "@trawler/testkit";
import { afterEach, describe, expect, test } from "vitest";
import docker from "../src/index.ts";
import { jsonLines } from "../src/lines.ts";
import { container, exited, FakeEngine } from "./fake-engine.ts";

// All of these run against a fake engine: they are about its faults. The real one is tested with the testbed.

const A = "a".repeat(64);
const B = "b".repeat(64);
const C = "c".repeat(64);
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function engine(...containers: Readonly<Record<string, unknown>>[]): Promise<FakeEngine> {
  const made = new FakeEngine();
  cleanups.push(() => made[Symbol.asyncDispose]());
  for (const one of containers) made.put(one);
  await made.start();
  return made;
}

/** Follows an engine and keeps what it reports. */
class Watch {
  readonly events: WorkloadEvent[] = [];
  readonly log = collectingLog();
  error: unknown;
  ended = false;
  readonly #controller = new AbortController();

  constructor(socket: string, settings: object = {}) {
    void this.#run({ socket, ...settings });
    cleanups.push(() => this.#controller.abort());
  }

  async #run(settings: object): Promise<void> {
    try {
      const config = docker.config.parse(settings);
      const environment = await docker.create(config, fakeHost({ clock: fakeClock(Date.UTC(2026, 10, 30, 21)) }));
      const context = { ...fakeContext(this.#controller.signal), log: this.log };
      for await (const event of environment.discover(context)) this.events.push(event);
    } catch (error) {
      this.error = error;
    }
    this.ended = true;
  }

  async synced(): Promise<this> {
    await expect.poll(() => this.events.some(({ type }) => type === "synced")).toBe(true);
    return this;
  }

  told(): readonly string[] {
    return this.events.map((event) => (event.type === "synced" ? "synced" : `${event.type} ${event.workload.name}`));
  }

  /** As it was told last. */
  last(name: string): Workload | undefined {
    return this.events
      .flatMap((event) => (event.type === "synced" ? [] : [event.workload]))
      .findLast((one) => one.name === name);
  }

  stop(): void {
    this.#controller.abort();
  }
}

describe("the contract of environments, on a fake engine", () => {
  let current: FakeEngine | undefined;
  const world = async () => {
    current = await engine(container(A, "web"), container(B, "db"));
    const made = current;
    return {
      host: fakeHost(),
      config: { socket: made.socket },
      async takeAway() {
        made.containers.delete(B);
        made.emit("destroy", B);
      },
      [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
    };
  };
  const away = async () => {
    const made = new FakeEngine();
    return { config: { socket: made.socket }, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
  };
  for (const { name, run } of environmentContract(docker, { world, away })) test(name, run);
});

describe("discovery on a fake engine", () => {
  test("C57, parity C12: of three listed, one gone and one being removed, the third is reported", async () => {
    const fake = await engine(container(A, "web"), container(B, "gone"), container(C, "going"));
    fake.faults.set(B, 404).set(C, 409);
    const watch = await new Watch(fake.socket).synced();
    expect(watch.told()).toEqual(["added web", "synced"]);
  });

  test("parity 006: Podman's answer for a container that goes meanwhile is no failure", async () => {
    const fake = await engine(container(A, "web"), container(B, "going"));
    fake.faults.set(B, 500);
    fake.faultMessage = "container b does not exist in database: no such container";
    const watch = await new Watch(fake.socket).synced();
    expect(watch.told()).toEqual(["added web", "synced"]);
    expect(watch.log.lines.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test("reports all that is known of a container", async () => {
    const fake = await engine(container(A, "web"));
    const watch = await new Watch(fake.socket).synced();
    expect(watch.last("web")).toMatchObject({
      kind: "container",
      id: A,
      lifecycle: "running",
      handle: { pid: 4711, containerId: A, cgroup: `/docker/${A}` },
      sandbox: null,
      labels: { team: "shop" },
      resource: { "container.id": A, "container.runtime.name": "docker", "docker.network.mode": "bridge" },
      status: { phase: null, hostNetwork: false, ips: ["172.17.0.2"] },
      metadata: { complete: true, reason: null, groups: { identity: { source: "docker" } } },
      containers: [
        {
          name: "web",
          id: A,
          image: "shop/web:1",
          digest: `sha256:${"d".repeat(64)}`,
          type: "app",
          state: { status: "running", startedAt: "2026-11-30T20:00:00.123Z", restarts: 0 },
          resource: { "container.image.name": "shop/web", "container.image.tags": ["1"] },
        },
      ],
    });
    expect(JSON.stringify(watch.last("web"))).not.toContain("A=1");
    expect(fake.requests).toContain("/v1.41/containers/json");
  });

  test("an image and a network are asked for once, however many containers have them, and never by a crawl", async () => {
    const fake = await engine(container(A, "one"), container(B, "two"), container(C, "three"));
    const watch = await new Watch(fake.socket).synced();
    expect(watch.last("two")?.containers[0]).toMatchObject({
      inspection: { source: "docker", networks: ["bridge"], bridges: ["docker0"], usesDefaultBridge: true },
      imageInspection: { source: "docker", steps: [{ command: "COPY app /app", size: 7 }] },
    });
    fake.put(container(A, "one", { Name: "/renamed" }));
    fake.emit("rename", A);
    await expect.poll(() => watch.last("renamed")?.containers[0]?.inspection?.bridges).toEqual(["docker0"]);
    const asked = fake.requests.filter((path) => /\/(?:images|networks)\//.test(path));
    expect(asked).toHaveLength(3);
  });

  test("C63, C64: the engine's statistics are never asked, so that what it leaves out of them leaves nothing out here", async () => {
    const fake = await engine(container(A, "one"));
    await new Watch(fake.socket).synced();
    expect(fake.requests.length).toBeGreaterThan(0);
    expect(fake.requests.filter((path) => path.includes("/stats"))).toEqual([]);
  });

  test("parity P23: a container of a network without docker0 does not use it", async () => {
    const fake = await engine(container(A, "web", { NetworkSettings: { Networks: { shop: { NetworkID: "n1" } } } }));
    fake.bridges.set("n1", "br-shop");
    const watch = await new Watch(fake.socket).synced();
    expect(watch.last("web")?.containers[0]?.inspection).toMatchObject({
      networks: ["shop"],
      bridges: ["br-shop"],
      usesDefaultBridge: false,
    });
  });

  test("one that shares a network is attached to what its owner is; of one that is missing nothing is said", async () => {
    const sharing = (id: string) => ({
      HostConfig: { NetworkMode: `container:${id}` },
      NetworkSettings: { Networks: {} },
    });
    const fake = await engine(
      container(A, "owner"),
      container(B, "sharer", sharing(A)),
      container(C, "orphan", sharing("7".repeat(64))),
    );
    const watch = await new Watch(fake.socket).synced();
    const inspection = (name: string) => watch.last(name)?.containers[0]?.inspection;
    await expect.poll(() => inspection("sharer")?.bridges).toEqual(["docker0"]);
    expect(inspection("sharer")).toMatchObject({ networks: ["bridge"], usesDefaultBridge: true });
    expect(inspection("orphan")).toMatchObject({ networks: null, bridges: null, usesDefaultBridge: null });
  });

  test("an image or a network that cannot be inspected costs nothing else", async () => {
    const fake = await engine(container(A, "web"));
    fake.history = [500, { message: "layer does not exist" }];
    fake.bridges.clear();
    const watch = await new Watch(fake.socket).synced();
    const [web] = watch.last("web")?.containers ?? [];
    expect(web).toMatchObject({
      digest: `sha256:${"d".repeat(64)}`,
      inspection: { networks: ["bridge"], bridges: null, usesDefaultBridge: null },
      imageInspection: { steps: null },
    });
    // The next change asks again for the network.
    fake.bridges.set("n0", "docker0");
    fake.emit("update", A);
    await expect.poll(() => watch.last("web")?.containers[0]?.inspection?.bridges).toEqual(["docker0"]);
  });

  test("C60: host, none and a foreign namespace; a shared network is its owner's", async () => {
    const mode = (networkMode: string) => ({
      HostConfig: { NetworkMode: networkMode },
      NetworkSettings: { Networks: {} },
    });
    const fake = await engine(
      container(A, "owner"),
      container(B, "sharer", mode(`container:${A}`)),
      container(C, "orphan", mode(`container:${"7".repeat(64)}`)),
      container("d".repeat(64), "on-host", mode("host")),
      container("e".repeat(64), "alone", mode("none")),
      container("f".repeat(64), "elsewhere", mode("ns:/run/netns/x")),
      container("1".repeat(64), "circle", mode(`container:${"1".repeat(64)}`)),
    );
    const watch = await new Watch(fake.socket).synced();
    await expect.poll(() => watch.last("sharer")?.sandbox?.id).toBe(A);
    expect(watch.last("sharer")).toMatchObject({
      sandbox: { handle: { pid: 4711 }, hostNetwork: false },
      status: { ips: ["172.17.0.2"], hostNetwork: false },
      resource: { "docker.network.mode": `container:${A.slice(0, 12)}` },
      metadata: { complete: true },
    });
    expect(watch.last("orphan")).toMatchObject({
      sandbox: null,
      metadata: { complete: false },
      status: { hostNetwork: null },
    });
    expect(watch.last("orphan")?.metadata.reason).toContain("777");
    expect(watch.last("on-host")).toMatchObject({ status: { hostNetwork: true, ips: [] } });
    expect(watch.last("alone")).toMatchObject({ status: { hostNetwork: false, ips: [] } });
    expect(watch.last("elsewhere")).toMatchObject({ status: { hostNetwork: false } });
    expect(watch.last("circle")?.metadata.complete).toBe(false);
  });

  test("C60: when the owner is restarted its sharers follow it", async () => {
    const shared = { HostConfig: { NetworkMode: `container:${A}` } };
    const fake = await engine(container(A, "owner"), container(B, "sharer", shared));
    const watch = await new Watch(fake.socket).synced();
    fake.put(container(A, "owner", { State: { ...Object(container(A, "owner")["State"]), Pid: 5000 } }));
    fake.emit("start", A);
    await expect.poll(() => watch.last("sharer")?.sandbox?.handle.pid).toBe(5000);
  });

  test("C51, C53: the sandbox of a pod is not reported, yet its network is its containers'", async () => {
    const sandbox = {
      Config: { Image: "registry.example.test/infra/sandbox:7", Labels: { "io.kubernetes.docker.type": "podsandbox" } },
    };
    const labels = {
      "io.kubernetes.docker.type": "container",
      "io.kubernetes.container.name": "pause",
      "io.kubernetes.pod.name": "cart-0",
      "io.kubernetes.pod.namespace": "shop",
      "io.kubernetes.pod.uid": "u-1",
    };
    const member = {
      Config: { Image: "shop/pause-menu:1", Labels: labels },
      HostConfig: { NetworkMode: `container:${A}` },
    };
    const fake = await engine(container(A, "k8s_POD_cart", sandbox), container(B, "k8s_pause_cart", member));
    const watch = await new Watch(fake.socket).synced();
    await expect.poll(() => watch.last("k8s_pause_cart")?.sandbox?.id).toBe(A);
    expect(watch.last("k8s_POD_cart")).toBeUndefined();
    expect(watch.last("k8s_pause_cart")).toMatchObject({
      handle: { podUid: "u-1" },
      resource: { "k8s.pod.name": "cart-0", "k8s.namespace.name": "shop", "k8s.container.name": "pause" },
      containers: [{ name: "pause" }],
    });
  });

  test("C66: one inspect that hangs holds up no other, and no calls pile up", async () => {
    const ids = Array.from({ length: 30 }, (_, index) => index.toString(16).padStart(2, "0").repeat(32));
    const fake = await engine(...ids.map((id, index) => container(id, `c${index}`)));
    fake.faults.set(ids[0] ?? "", "hang");
    const watch = new Watch(fake.socket, { timeout: "2s" });
    await expect.poll(() => watch.told().length).toBe(29);
    for (let turn = 0; turn < 10; turn++) fake.emit("update", ids[0] ?? "");
    await watch.synced();
    const asked = fake.requests.filter((path) => path.includes(ids[0] ?? "")).length;
    expect(asked).toBeLessThanOrEqual(2);
    fake.faults.clear();
    fake.emit("update", ids[0] ?? "");
    await expect.poll(() => watch.last("c0")?.id).toBe(ids[0]);
  });

  test("C67: events are read whole however the stream is cut", async () => {
    const fake = await engine(container(A, "web"));
    const watch = await new Watch(fake.socket).synced();
    const message = (id: string): string =>
      `${JSON.stringify({ Type: "container", Action: "start", Actor: { ID: id } })}\n`;
    fake.put(container(B, "grün"));
    fake.put(container(C, "db"));
    const bytes = Buffer.from(message(B) + message(C));
    for (const cut of [0, 7, 60, bytes.length - 3]) {
      const next = [7, 60, bytes.length - 3, bytes.length][[0, 7, 60, bytes.length - 3].indexOf(cut)];
      fake.write(bytes.subarray(cut, next));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => watch.told().toSorted()).toEqual(["added db", "added grün", "added web", "synced"]);
  });

  test("C69: an engine that goes away and comes back with other containers: each change is told once", async () => {
    const fake = await engine(container(A, "stays"), container(B, "goes"));
    const watch = await new Watch(fake.socket).synced();
    await fake.stop();
    fake.containers.delete(B);
    fake.put(container(C, "comes"));
    await fake.start();
    await expect.poll(() => watch.told().length).toBe(5);
    expect(watch.told().slice(0, 3).toSorted()).toEqual(["added goes", "added stays", "synced"]);
    expect(watch.told().slice(3).toSorted()).toEqual(["added comes", "removed goes"]);
    await expect.poll(() => watch.log.lines.map(({ level }) => level)).toEqual(["warn", "info"]);
    expect(watch.ended).toBe(false);
  });

  test("C69: a stream that only ends is opened again, and all is looked at anew", async () => {
    const fake = await engine(container(A, "web"));
    const watch = await new Watch(fake.socket).synced();
    fake.put(container(A, "web", { State: { ...Object(container(A, "web")["State"]), Pid: 99 } }));
    fake.endStreams();
    await expect.poll(() => watch.last("web")?.handle.pid).toBe(99);
    expect(watch.told()).toEqual(["added web", "synced", "updated web"]);
  });

  test("C69: a stream that says nothing for ever is replaced, and what it did not tell is found", async () => {
    const fake = await engine(container(A, "web"));
    const watch = await new Watch(fake.socket, { compare: "100ms" }).synced();
    fake.put(container(B, "quiet"));
    await expect.poll(() => watch.told()).toEqual(["added web", "synced", "added quiet"]);
    await expect.poll(() => fake.streams).toBeLessThanOrEqual(1);
    expect(watch.log.lines).toEqual([]);
  });

  test("C70: no socket, then one that is forbidden, then an engine: each a clear state", async () => {
    const fake = new FakeEngine();
    cleanups.push(() => fake[Symbol.asyncDispose]());
    const absent = new Watch(fake.socket);
    await expect.poll(() => errorCode(absent.error)).toBe("TRAWLER_UNAVAILABLE");
    expect(
      await docker.detect?.(docker.config.parse({ socket: fake.socket }), fakeHost(), fakeContext()),
    ).toMatchObject({
      found: false,
      detail: expect.stringContaining(fake.socket),
    });
    await fake.start();
    if (process.getuid?.() !== 0) {
      chmodSync(fake.socket, 0);
      const forbidden = new Watch(fake.socket);
      await expect.poll(() => errorCode(forbidden.error)).toBe("TRAWLER_DENIED");
      chmodSync(fake.socket, 0o600);
    }
    fake.put(container(A, "web"));
    await new Watch(fake.socket).synced();
    expect(
      await docker.detect?.(docker.config.parse({ socket: fake.socket }), fakeHost(), fakeContext()),
    ).toMatchObject({
      found: true,
      detail: expect.stringContaining("1.41"),
    });
  });

  test("an engine that stays away after it was there ends discovery with a code", async () => {
    const fake = await engine(container(A, "web"));
    const watch = await new Watch(fake.socket).synced();
    await fake.stop();
    await expect.poll(() => errorCode(watch.error)).toBe("TRAWLER_UNAVAILABLE");
  });

  test("what happens while the list is made is not missed", async () => {
    const fake = await engine(container(A, "web"));
    // After the list was made: only the stream, which was opened before it, can tell.
    fake.onList = () =>
      setImmediate(() => {
        fake.onList = () => undefined;
        fake.put(container(B, "late"));
        fake.emit("start", B);
      });
    const watch = await new Watch(fake.socket).synced();
    await expect.poll(() => watch.last("late")?.id).toBe(B);
  });

  test("a stop is told at once with its exit code, and a removal with the last state", async () => {
    const fake = await engine(container(A, "job"));
    const watch = await new Watch(fake.socket).synced();
    fake.put(container(A, "job", exited(3)));
    fake.emit("die", A, { exitCode: "3", name: "job" });
    await expect.poll(() => watch.last("job")?.lifecycle).toBe("ended");
    expect(watch.last("job")?.containers[0]?.state).toMatchObject({
      status: "terminated",
      exitCode: 3,
      reason: "Error",
    });
    expect(watch.last("job")?.handle.pid).toBeUndefined();
    fake.containers.delete(A);
    fake.emit("destroy", A);
    await expect.poll(() => watch.told().at(-1)).toBe("removed job");
    expect(watch.last("job")?.containers[0]?.state.exitCode).toBe(3);
  });

  test("one that ended a moment before it was first seen has ended", async () => {
    const fake = await engine(container(A, "job", exited(0, "2026-11-30T20:59:59.900Z")));
    const watch = await new Watch(fake.socket).synced();
    expect(watch.last("job")?.lifecycle).toBe("ended");
  });

  test("a container removed as it stops still tells its exit code", async () => {
    const fake = await engine(container(A, "job"));
    const watch = await new Watch(fake.socket).synced();
    fake.containers.delete(A);
    fake.emit("die", A, { exitCode: "7", name: "job" });
    fake.emit("destroy", A);
    await expect.poll(() => watch.told().at(-1)).toBe("removed job");
    expect(watch.last("job")?.containers[0]?.state).toMatchObject({
      exitCode: 7,
      startedAt: "2026-11-30T20:00:00.123Z",
    });
  });

  test("a container that came and went between two looks leaves what its events told", async () => {
    const fake = await engine(container(A, "web"));
    const watch = await new Watch(fake.socket).synced();
    const attributes = { name: "flash", image: "shop/job:2", team: "shop" };
    fake.emit("create", B, attributes);
    fake.emit("start", B, attributes);
    fake.emit("die", B, { ...attributes, exitCode: "0", execDuration: "0" });
    fake.emit("destroy", B, attributes);
    await expect.poll(() => watch.told().slice(2)).toEqual(["added flash", "removed flash"]);
    expect(watch.last("flash")).toMatchObject({ lifecycle: "ended", labels: { team: "shop" } });
    expect(watch.last("flash")?.containers[0]).toMatchObject({ image: "shop/job:2", state: { exitCode: 0 } });
  });

  test("one that is started again after its end is a new one under its old id", async () => {
    const fake = await engine(container(A, "web", exited(0)));
    const watch = await new Watch(fake.socket).synced();
    expect(watch.last("web")?.lifecycle).toBe("ended");
    fake.put(container(A, "web"));
    fake.emit("start", A);
    await expect.poll(() => watch.told()).toEqual(["added web", "synced", "removed web", "added web"]);
    expect(watch.last("web")?.containers[0]?.state.lastTermination).toMatchObject({ exitCode: 0, reason: "Completed" });
  });

  test("only what the settings ask for is reported, and a rename can change that", async () => {
    const fake = await engine(container(A, "web-1"), container(B, "db"));
    const watch = await new Watch(fake.socket, { include: { names: ["web-*"] } }).synced();
    expect(watch.told()).toEqual(["added web-1", "synced"]);
    fake.put(container(A, "old"));
    fake.emit("rename", A);
    await expect.poll(() => watch.told().at(-1)).toBe("removed web-1");
    fake.put(container(B, "web-2"));
    fake.emit("rename", B);
    await expect.poll(() => watch.told().at(-1)).toBe("added web-2");
  });

  test("the same again is no update", async () => {
    const fake = await engine(container(A, "web"));
    const watch = await new Watch(fake.socket).synced();
    for (let turn = 0; turn < 5; turn++) fake.emit("update", A);
    fake.put(container(B, "db"));
    fake.emit("create", B);
    await expect.poll(() => watch.told()).toEqual(["added web", "synced", "added db"]);
  });
});

test("C67: a line that never ends, and one that is no JSON, are failures with a code", async () => {
  async function* chunks(...parts: string[]): AsyncGenerator<string> {
    yield* parts;
  }
  const read = async (...parts: string[]): Promise<unknown> => {
    const values: unknown[] = [];
    try {
      for await (const value of jsonLines(chunks(...parts))) values.push(value);
      return values;
    } catch (error) {
      return errorCode(error);
    }
  };
  expect(await read('{"a":1}{', "\n")).toBe("TRAWLER_RETRY");
  expect(await read('{"a":1}\n{"b"', ':2}\n\n{"c":', "3}\n")).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }]);
  expect(await read(...Array.from({ length: 5 }, () => "x".repeat(1024 * 1024)))).toBe("TRAWLER_RETRY");
});
