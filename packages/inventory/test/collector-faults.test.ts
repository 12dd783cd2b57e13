import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { createApiClient, tokenTarget } from "@trawler/kube";
import { fakeStatus } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import { createKindReader } from "../src/collector/reader.ts";
import { type InventoryEvent, kindSpec, STORE_FILE, storedSkew } from "../src/index.ts";
import { bench, known, lists, PODS, pod, until, watches } from "./collector-harness.ts";
import { object, sqliteLedger } from "./harness.ts";

const EVENTS = "/api/v1/events";
const JOBS = "/apis/batch/v1/jobs";
const reasons = (collector: { store: { gaps(): readonly { reason: string }[] } }): readonly string[] =>
  collector.store.gaps().map(({ reason }) => reason);

describe("size", () => {
  test("B45, Failure 16: of an object over the bound the identity is kept, what was known of it stays, and the watch goes on", async () => {
    await using world = await bench((api) => api.put(PODS, pod("grows", { note: "small" })));
    const { collector } = await world.start({ tuning: { maxLineBytes: 1024 * 1024 } });
    await until("a watch", () => world.api.openWatches === 1);
    const note = "x".repeat(3 * 1024 * 1024);
    world.api.put(PODS, pod("huge", { name: "huge-0", note }));
    world.api.put(PODS, pod("grows", { note }));
    world.api.put(PODS, pod("next"));
    await until("the next one", () => known(collector).includes("next live"));
    expect(known(collector)).toEqual(["grows live", "huge live", "next live"]);
    const [huge] = collector.store.query({ name: "huge-0" }).records;
    expect(huge).toMatchObject({ uid: "huge", namespace: "shop", truncated: true });
    expect(collector.store.show("grows")[0]).toMatchObject({ node: "node-a", phase: "Running", truncated: true });
    expect(collector.status().kinds[0]?.reflector.oversized).toBe(2);
    world.api.delete(PODS, "huge");
    world.api.delete(PODS, "grows");
    await until("both ends", () => known(collector).filter((line) => line.includes("gone")).length === 2);
    expect(known(collector)).toEqual(["grows gone watch last", "huge gone watch last", "next live"]);
    expect(lists(world.api)).toBe(1);
  });

  test("a page of large objects that is too long is asked for again in smaller ones", async () => {
    await using world = await bench((api) => {
      for (let i = 0; i < 20; i += 1) api.put(PODS, pod(`u${i}`, { note: "x".repeat(100_000) }));
    });
    const { collector } = await world.start({ tuning: { maxPageBytes: 500_000 } });
    await until("all", () => known(collector).length === 20);
  });
});

describe("a queue that is full", () => {
  test("B37, Failure 25: not ready and why; nothing that was received is lost, and it goes on when there is room", async () => {
    await using world = await bench();
    const { collector } = await world.start({ queueBytes: 512 * 1024 });
    await until("a position", () => collector.store.position("pods")?.resourceVersion === "100");
    // A store that takes nothing: what is received stays in the queue.
    const other = new DatabaseSync(world.folder.file(STORE_FILE));
    other.exec("BEGIN IMMEDIATE");
    for (let i = 0; i < 30; i += 1) {
      const note = Buffer.from(crypto.getRandomValues(new Uint8Array(30_000))).toString("base64");
      world.api.put(PODS, pod(`u${i}`, { note }));
    }
    await until("not ready", () => collector.status().unready?.includes("nothing becomes durable") === true);
    expect(collector.store.position("pods")?.resourceVersion).toBe("100");
    other.exec("ROLLBACK");
    other.close();
    await until("all to be there", () => known(collector).length === 30);
    await until("ready", () => collector.status().unready === null);
    expect([lists(world.api), reasons(collector)]).toEqual([1, []]);
  });

  test("B36, Failure 13: at its quota it drops states in between: no fault, no gap, and the record counts them", async () => {
    await using world = await bench();
    const { collector } = await world.start({ queueBytes: 1024 * 1024 });
    await until("a position", () => collector.store.position("pods")?.resourceVersion === "100");
    const other = new DatabaseSync(world.folder.file(STORE_FILE));
    other.exec("BEGIN IMMEDIATE");
    for (let i = 0; i < 150; i += 1) {
      const note = Buffer.from(crypto.getRandomValues(new Uint8Array(12_000))).toString("base64");
      world.api.put(PODS, pod("busy", { note, phase: i === 0 ? "Pending" : "Running" }));
    }
    world.api.delete(PODS, "busy");
    const { queue } = collector;
    await until(
      "all to be durable",
      () => queue.status().pending === 0 && collector.status().kinds[0]?.events.deleted === 1,
    );
    expect(queue.status()).toMatchObject({ fault: null });
    expect(queue.status().compacted).toBeGreaterThan(0);
    other.exec("ROLLBACK");
    other.close();
    await until("the record", () => known(collector).length === 1 && known(collector)[0] === "busy gone watch exact");
    const [record] = collector.store.query({ name: "busy", between: [0, Number.MAX_SAFE_INTEGER] }).records;
    // It came, changed 149 times, and went.
    expect(record?.updates).toBe(151);
    expect(collector.store.position("pods")?.resourceVersion).toBe("251");
    expect([lists(world.api), watches(world.api), reasons(collector)]).toEqual([1, 1, []]);
  });

  test("B36, Failure 13: a watch for which there is no room is ended on purpose, and taken up where it stood", async () => {
    await using world = await bench();
    const { collector } = await world.start({ queueBytes: 512 * 1024, tuning: { roomTimeout: 30 } });
    await until("a position", () => collector.store.position("pods")?.resourceVersion === "100");
    const other = new DatabaseSync(world.folder.file(STORE_FILE));
    other.exec("BEGIN IMMEDIATE");
    // Each of another object: there is nothing to drop.
    for (let i = 0; i < 200; i += 1) {
      const note = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("base64");
      world.api.put(PODS, pod(`u${i}`, { note }));
    }
    await until("the end of the watch", () => world.api.openWatches === 0);
    await expect.poll(() => collector.status().kinds[0]?.reflector.restarts.full).toBe(1);
    await expect.poll(() => collector.status().unready).toMatch(/nothing becomes durable: .*quota/);
    other.exec("ROLLBACK");
    other.close();
    await until("all to be there", () => known(collector).length === 200);
    await until("ready", () => collector.status().unready === null);
    expect([lists(world.api), reasons(collector)]).toEqual([1, []]);
  });

  test("B36, Failure 13: it is not read on while nothing becomes durable; what the server forgot meanwhile is a gap of the overflow", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const events: InventoryEvent[] = [];
    let full: PromiseWithResolvers<void> | null = null;
    using client = createApiClient({ target: tokenTarget({ server: world.api.url }) });
    const stop = new AbortController();
    const reader = createKindReader({
      client,
      clock: { now: () => Date.now(), monotonic: () => performance.now() / 1000 },
      spec: kindSpec({ apiVersion: "v1", resource: "pods", kind: "Pod" }),
      resume: null,
      known: [],
      append: (event) => void events.push(event),
      room: () => full?.promise ?? null,
      isFull: () => full !== null,
      tuning: { sleep: async () => {} },
    });
    const ended = reader.run(stop.signal);
    await until("a watch", () => world.api.openWatches === 1);
    full = Promise.withResolvers<void>();
    world.api.put(PODS, pod("b"));
    await until("b", () => events.some((event) => "uid" in event && event.uid === "b"));
    const asked = world.api.requests.length;
    // The server drops a reader that does not read, and forgets.
    world.api.breakWatches("reset");
    world.api.silently(() => world.api.delete(PODS, "a"));
    world.api.compact();
    await until("the loss", () => world.api.openWatches === 0);
    expect(world.api.requests).toHaveLength(asked);
    full.resolve();
    full = null;
    await until("the gap", () => events.some(({ type }) => type === "gap"));
    expect(events.find(({ type }) => type === "gap")).toMatchObject({ reason: "overflow" });
    expect(events.find(({ type }) => type === "absent")).toMatchObject({ uid: "a" });
    stop.abort();
    await ended;
  });
});

describe("a store that is slow", () => {
  test("B27, F4, Failure 15: reading goes on while the store is away, and no watch is broken", async () => {
    await using world = await bench();
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1 && collector.status().unready === null);
    const other = new DatabaseSync(world.folder.file(STORE_FILE));
    other.exec("BEGIN IMMEDIATE");
    for (let i = 0; i < 500; i += 1) world.api.put(PODS, pod(`u${i}`));
    await until(
      "all to be durable",
      () => collector.status().kinds[0]?.events.added === 500 && collector.queue.status().pending === 0,
    );
    expect(known(collector)).toEqual([]);
    other.exec("ROLLBACK");
    other.close();
    await until("all to be there", () => known(collector).length === 500);
    expect(watches(world.api)).toBe(1);
  });
});

describe("the server's answers", () => {
  test("Failure 19, B16: a token that is no longer good is read again, without a list", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const rotate = (token: string): void => {
      world.api.token = token;
      writeFileSync(world.folder.file("token"), token);
    };
    rotate("one");
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    rotate("two");
    world.api.breakWatches("end");
    await until("another watch", () => world.api.openWatches === 1);
    world.api.put(PODS, pod("b"));
    await until("b", () => known(collector).includes("b live"));
    expect(lists(world.api)).toBe(1);
    expect(reasons(collector)).toEqual([]);
  });

  test("Failure 30, B12: a proxy that cuts every watch causes no list", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const { collector } = await world.start();
    for (let i = 0; i < 10; i += 1) {
      await until("a watch", () => world.api.openWatches === 1);
      world.api.put(PODS, pod(`b${i}`));
      await until("it to be received", () => known(collector).includes(`b${i} live`));
      world.api.breakWatches(i % 2 === 0 ? "end" : "reset");
      await until("the cut", () => world.api.openWatches === 0 || watches(world.api) > i + 1);
    }
    await until("a watch", () => world.api.openWatches === 1);
    expect(lists(world.api)).toBe(1);
    expect(reasons(collector)).toEqual([]);
  });

  test("Failure 4: refused, then 429 and 503, then too new a version: the position stays, without a list", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1 && known(collector).length === 1);
    const ahead = {
      ...fakeStatus(504, "Timeout", "Too large resource version"),
      details: { causes: [{ reason: "ResourceVersionTooLarge" }] },
    };
    const answers = [{ status: 429, headers: { "retry-after": "0" } }, { status: 503 }, { status: 504, body: ahead }];
    world.api.fault = () => answers.shift();
    await world.api.stop();
    await until("the loss", () => collector.status().unready !== null);
    await world.api.start();
    await until("ready", () => collector.status().unready === null);
    world.api.put(PODS, pod("b"));
    await until("b", () => known(collector).includes("b live"));
    expect(answers).toEqual([]);
    expect(lists(world.api)).toBe(1);
    expect(reasons(collector)).toEqual([]);
  });

  test("Failure 21, B18, B40: no selector is ever set, and nothing is fetched for an object that is received", async () => {
    await using world = await bench();
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    const made = pod("a");
    const ownerReferences = [{ kind: "ReplicaSet", name: "gone", uid: "gone-uid", controller: true }];
    world.api.put(PODS, { ...made, metadata: { ...made.metadata, ownerReferences } });
    await until("a", () => known(collector).includes("a live"));
    for (const { verb, query } of world.api.requests) {
      expect(["list", "watch"]).toContain(verb);
      expect([query.has("labelSelector"), query.has("fieldSelector")]).toEqual([false, false]);
    }
    expect(collector.store.query({ name: "a" }).records[0]?.owners).toEqual([
      { kind: "ReplicaSet", name: "gone", uid: "gone-uid" },
    ]);
  });
});

describe("clocks", () => {
  test("B43: the skew against the server is measured by its answers, and kept beside the queue", async () => {
    await using world = await bench();
    expect(await storedSkew(world.folder.path)).toBeNull();
    const first = await world.start();
    await until("an answer", () => first.collector.status().clockSkew !== null);
    await first.stop();
    const second = await world.start();
    await until("an answer", () => second.collector.status().clockSkew !== null);
    await second.stop();
    const { milliseconds = Number.NaN, uncertainty = 0 } = (await storedSkew(world.folder.path)) ?? {};
    // Node sends the same Date until a timer of its own fires, late on a busy machine.
    expect(Math.abs(milliseconds)).toBeLessThanOrEqual(uncertainty + 5_000);
  });

  test("Failure 18, B43, B44: a wall clock that jumps by an hour, and times of the server from next year, decide nothing", async () => {
    await using world = await bench();
    let skew = 0;
    const clock = { now: () => Date.now() + skew, monotonic: () => performance.now() / 1000 };
    const { collector } = await world.start({ clock });
    await until("a watch", () => world.api.openWatches === 1);
    for (const [uid, jump] of [
      ["a", 3_600_000],
      ["b", -3_600_000],
      ["c", 0],
    ] as const) {
      skew = jump;
      const made = pod(uid);
      const creationTimestamp = new Date(Date.now() + (uid === "a" ? 1 : -1) * 365 * 86_400_000).toISOString();
      world.api.put(PODS, { ...made, metadata: { ...made.metadata, creationTimestamp } });
      world.api.put(PODS, pod(uid, { phase: "Failed", exit: 1 }));
      world.api.delete(PODS, uid);
    }
    await until(
      "all ends",
      () => known(collector).length === 3 && known(collector).every((line) => line.includes("gone")),
    );
    expect(known(collector)).toEqual(["a", "b", "c"].map((uid) => `${uid} gone watch exact`));
    expect(collector.status().writer.staleIgnored).toBe(0);
    expect(lists(world.api)).toBe(1);
    expect(watches(world.api)).toBe(1);
    expect(collector.status().unready).toBeNull();
  });
});

describe("B24: what is found for a gap", () => {
  const UNSEEN = "0c4b6f6e-0000-4000-8000-000000000001";
  const about = (uid: string, name: string, reason: string, source: object) => ({
    metadata: { uid: `event-${name}-${reason}`, name: `${name}.${reason}`, namespace: "shop" },
    involvedObject: { kind: "Pod", namespace: "shop", name, uid },
    reason,
    source,
    lastTimestamp: "2026-01-01T00:00:00Z",
  });

  test("F13: Events tell of a pod that nobody saw: a record of unknown final state; Jobs tell how many are missing", async () => {
    await using world = await bench((api) => {
      api.put(PODS, pod("a"));
      api.put(EVENTS, about(UNSEEN, "unseen-0", "Scheduled", { component: "default-scheduler" }));
      api.put(EVENTS, about(UNSEEN, "unseen-0", "Killing", { component: "kubelet", host: "node-b" }));
      api.put(EVENTS, about("a", "a", "Started", { component: "kubelet", host: "node-a" }));
      api.put(EVENTS, about("5d41402abc4b2a76b9719d911017c592", "static", "Started", {}));
      api.put(JOBS, {
        metadata: { uid: "job", name: "nightly", namespace: "shop" },
        status: { succeeded: 2, failed: 1 },
      });
    });
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1 && known(collector).length === 1);
    expect(world.api.requests.map(({ path }) => path)).not.toContain(EVENTS);
    world.api.compact();
    world.api.put(PODS, pod("b"));
    world.api.compact();
    world.api.fault = ({ verb, query }) => {
      if (verb !== "watch" || query.get("resourceVersion") === String(world.api.resourceVersion)) return undefined;
      return { status: 410, body: fakeStatus(410, "Expired", "too old") };
    };
    world.api.silently(() => world.api.put(PODS, pod("c")));
    world.api.breakWatches("end");
    await until("the record", () => known(collector).includes(`${UNSEEN} gone event unknown`));
    expect(known(collector)).toEqual([`${UNSEEN} gone event unknown`, "a live", "b live", "c live"]);
    const [told] = collector.store.show(UNSEEN);
    expect(told).toMatchObject({ name: "unseen-0", namespace: "shop", node: "node-b", exitCode: null });
    expect(told?.transitions.map(({ what }) => what)).toEqual(["event Scheduled", "event Killing", "gone (event)"]);
    await until("the note", () => collector.store.gaps()[0]?.note.includes("searched") === true);
    expect(collector.store.gaps()[0]?.note).toContain(
      "unseen pods in Events: 1; missing by the counts of Jobs: 3 (shop/nightly)",
    );
  });

  test("what the watch shows later of such a pod is believed", async () => {
    await using file = await sqliteLedger();
    const told = { kind: "Pod", uid: "x", namespace: "shop", name: "x", node: null, reasons: [] } as const;
    const common = { epoch: 0, receivedAt: 5, notBefore: 1, notAfter: 4 };
    await file.apply({ type: "evidence", stream: "events", ...told, ...common });
    await file.apply(object("added", "x", 7), { type: "evidence", stream: "events", ...told, ...common });
    expect((await file.store.show("x"))[0]).toMatchObject({ end: null, phase: "Running" });
  });

  test("a role that may not read Events says so in the gap", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const first = await world.start();
    await until("a watch", () => world.api.openWatches === 1 && known(first.collector).length === 1);
    await first.stop();
    world.api.put(PODS, pod("b"));
    world.api.compact();
    world.api.fault = ({ path }) => (path === PODS ? undefined : { status: 403 });
    const { collector } = await world.start();
    await until("the note", () => collector.store.gaps()[0]?.note.includes("Events may not be read") === true);
  });
});
