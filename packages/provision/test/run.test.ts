import { cpSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ByteGate } from "../src/create/bytes.ts";
import { processTemplate } from "../src/template/process.ts";
import { configMap, Running, statesOf, templateOf } from "./running.ts";

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `c${at + 1}`);
const numbered = (count: number): readonly object[] => names(count).map((name) => configMap(name));
const refused = (name: string) => (other: string) => (other === name ? 422 : undefined);

test("P14, failure 1: after a failure none is started, those under way are awaited and undone too", async () => {
  await using running = await Running.open();
  const { fake } = running;
  const failed = Promise.withResolvers<void>();
  fake.refuse = refused("c3");
  // The others of the first five are under way when the third one fails.
  fake.gate = (name) => (name === "c3" ? undefined : failed.promise);
  const instance = await running.begin(templateOf(numbered(12)), { parallel: 5 });
  const watcher = { item: ({ status }: { status: string }) => void (status === "failed" && failed.resolve()) };
  const report = await running.work(instance, { watcher });
  expect([report.state, report.rollback]).toEqual(["FAILED", "complete"]);
  expect(statesOf(report)).toEqual([
    ...["c1: rolledBack", "c2: rolledBack", "c3: failed", "c4: rolledBack", "c5: rolledBack"],
    ...names(12)
      .slice(5)
      .map((name) => `${name}: skipped`),
  ]);
  expect(report.headline).toBe("ConfigMap shop/c3: c3 is refused");
  expect(fake.objects.size).toBe(0);
});

test("P14: with keepGoing the others are created all the same", async () => {
  await using running = await Running.open();
  running.fake.refuse = refused("c1");
  const instance = await running.begin(templateOf(numbered(3)), { keepGoing: true, parallel: 1, rollback: "never" });
  const report = await running.work(instance);
  expect([report.state, report.rollback]).toEqual(["PARTIAL", "notRequested"]);
  expect(statesOf(report)).toEqual(["c1: failed", "c2: created", "c3: created"]);
});

test("P15: the journal says what a request may do before it is sent, and what came of it when the run is over", async () => {
  await using running = await Running.open();
  const { fake, folder } = running;
  const instance = await running.begin(templateOf(numbered(20)), { parallel: 4 });
  const before: string[] = [];
  fake.gate = (name) => {
    // As another process would find it if this one ended now.
    using journal = folder.open(instance, true);
    before.push(`${name}: ${journal.items.find((item) => item.name === name)?.status}`);
    return undefined;
  };
  const report = await running.work(instance);
  expect(before.toSorted()).toEqual(
    names(20)
      .map((name) => `${name}: creating`)
      .toSorted(),
  );
  using journal = folder.open(instance, true);
  expect(journal.items).toEqual(report.objects);
  const told = journal.log.filter(({ text }) => text.endsWith(": created"));
  expect(told).toHaveLength(20);
});

test("P15, R2: a journal that a loss of power set back to before the first request: a rollback finds what was made, and nothing else", async () => {
  await using running = await Running.open();
  const { fake, folder } = running;
  const instance = await running.begin(templateOf(numbered(3)), { rollback: "never", parallel: 1 });
  const backup = `${folder.path}-before`;
  cpSync(folder.path, backup, { recursive: true });
  fake.refuse = refused("c3");
  expect((await running.work(instance)).state).toBe("PARTIAL");
  expect([...fake.objects.keys()]).toEqual(["shop/c1", "shop/c2"]);
  const stranger = { kind: "ConfigMap", metadata: { name: "c3", namespace: "shop", uid: "uid-of-a-stranger" } };
  fake.objects.set("shop/c3", stranger);
  rmSync(folder.path, { recursive: true });
  cpSync(backup, folder.path, { recursive: true });
  rmSync(backup, { recursive: true });
  const report = await running.undo(instance);
  expect([report.state, report.rollback, report.leftovers]).toEqual(["FAILED", "complete", []]);
  expect(statesOf(report)).toEqual(["c1: rolledBack", "c2: rolledBack", "c3: skipped"]);
  expect([...fake.objects.keys()]).toEqual(["shop/c3"]);
});

test("P16: of two objects that one generated name came to, the older is kept and the other removed by its uid", async () => {
  await using running = await Running.open();
  const { fake } = running;
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } };
  const instance = await running.begin(templateOf([object]));
  let first = true;
  // The first request takes effect, its answer is lost, and a retry on its way has made a second one by then.
  fake.keep = (kept) => {
    const copy = JSON.parse(JSON.stringify(kept));
    if (first) {
      const late = { ...copy.metadata, name: "made-late", uid: "uid-late", creationTimestamp: "2026-01-01T00:00:05Z" };
      fake.objects.set("shop/made-late", { ...copy, metadata: late });
    }
    return { ...copy, metadata: { ...copy.metadata, creationTimestamp: "2026-01-01T00:00:00Z" } };
  };
  fake.lose = () => {
    const lost = first;
    first = false;
    return lost;
  };
  const report = await running.work(instance);
  expect([report.state, report.objects[0]?.name, report.objects[0]?.attempts]).toEqual(["SUCCEEDED", "made-1", 1]);
  expect([...fake.objects.keys()]).toEqual(["shop/made-1"]);
  expect(fake.writes.filter((line) => line.startsWith("DELETE"))).toEqual([
    "DELETE /api/v1/namespaces/shop/configmaps/made-late",
  ]);
});

test("C6: a run that is gone on with makes what is missing with the values that were generated at first", async () => {
  await using running = await Running.open();
  const { fake } = running;
  const { template } = processTemplate(
    JSON.stringify({
      apiVersion: "template.openshift.io/v1",
      kind: "Template",
      metadata: { name: "t" },
      parameters: [{ name: "PASSWORD", generate: "expression", from: "[a-z]{24}" }],
      objects: ["a", "b"].map((name) => ({ ...configMap(name), data: { password: "${PASSWORD}" } })),
    }),
    { namespace: "shop" },
  );
  if (template === null) throw new Error("it has faults");
  fake.refuse = refused("b");
  const instance = await running.begin(template, { rollback: "never", parallel: 1 });
  expect((await running.work(instance)).state).toBe("PARTIAL");
  fake.refuse = () => undefined;
  const done = await running.work(instance, { resumed: true });
  expect([done.state, statesOf(done)]).toEqual(["SUCCEEDED", ["a: created", "b: created"]]);
  const passwords = [...fake.objects.values()].map((object) => JSON.stringify(object["data"]));
  expect(passwords).toEqual([passwords[0], passwords[0]]);
  expect(passwords[0]).toMatch(/^\{"password":"[a-z]{24}"\}$/);
});

test("P17: what the server could not do now is asked for again, what it will never do is not", async () => {
  await using running = await Running.open();
  const { fake } = running;
  const asked = new Map<string, number>();
  fake.refuse = (name) => {
    const times = (asked.get(name) ?? 0) + 1;
    asked.set(name, times);
    if (name === "busy") return times < 3 ? 503 : undefined;
    return name === "wrong" ? 422 : undefined;
  };
  const settings = { keepGoing: true, rollback: "never" } as const;
  const report = await running.work(await running.begin(templateOf([configMap("busy"), configMap("wrong")]), settings));
  expect(statesOf(report)).toEqual(["busy: created", "wrong: failed"]);
  expect(report.objects.map(({ attempts }) => attempts)).toEqual([3, 1]);
});

test("P22, R13: creation has a time of its own; the rollback after it has its own too", async () => {
  await using running = await Running.open();
  const createTimeout = 3_000;
  // It began before this one did: its time is over when the second object is made.
  running.fake.gate = (name) => (name === "c2" ? sleep(createTimeout + 100) : undefined);
  const instance = await running.begin(templateOf(numbered(3)), { createTimeout, parallel: 1 });
  const report = await running.work(instance);
  expect([report.state, report.rollback]).toEqual(["FAILED", "complete"]);
  expect(report.headline).toContain("the time for creation is over");
  expect(statesOf(report)).toEqual(["c1: rolledBack", "c2: rolledBack", "c3: skipped"]);
});

test.each(["deleted", "replaced"])("P26: an object that is %s while it is waited for has failed", async (what) => {
  await using running = await Running.open();
  const { fake } = running;
  const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" } };
  const instance = await running.begin(templateOf([claim]), { until: "ready" });
  const watcher = {
    run: ({ state }: { state: string }) => {
      const found = JSON.parse(JSON.stringify(fake.objects.get("shop/data") ?? null));
      if (state !== "WAITING") return;
      if (what === "deleted") fake.objects.delete("shop/data");
      else fake.objects.set("shop/data", { ...found, metadata: { ...found.metadata, uid: "uid-of-a-stranger" } });
    },
  };
  const report = await running.work(instance, { watcher });
  expect([report.state, report.objects[0]?.ready]).toEqual(["PARTIAL", false]);
  expect(report.headline).toContain(`it was ${what} meanwhile`);
});

test("P24: a claim whose class waits for a first consumer is ready at once", async () => {
  await using running = await Running.open();
  running.fake.interfere = (_, path) =>
    path.endsWith("/storageclasses/late") ? [200, { volumeBindingMode: "WaitForFirstConsumer" }] : undefined;
  const claim = (name: string, storageClassName: string) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: { storageClassName },
  });
  const late = await running.begin(templateOf([claim("a", "late")]), { until: "ready" });
  expect((await running.work(late)).state).toBe("SUCCEEDED");
  const other = await running.begin(templateOf([claim("b", "soon")]), { until: "ready", readyTimeout: 300 });
  expect((await running.work(other)).ready).toEqual({ ready: 0, total: 1, timedOut: true });
});

test("R1: what is all there and only not ready stays; by policy auto it goes", async () => {
  await using running = await Running.open();
  const claim = (name: string) => ({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name } });
  const settings = { until: "ready" as const, readyTimeout: 100 };
  const stays = await running.work(await running.begin(templateOf([claim("a")]), settings));
  expect([stays.state, stays.rollback]).toEqual(["PARTIAL", "notRequested"]);
  const goes = await running.begin(templateOf([claim("b")]), { ...settings, rollback: "auto" });
  expect([(await running.work(goes)).rollback]).toEqual(["complete"]);
  const asked = await running.begin(templateOf([claim("c")]), { ...settings, rollback: "ask" });
  expect((await running.work(asked, { ask: async () => true })).state).toBe("FAILED");
  const refuses = await running.begin(templateOf([claim("d")]), { ...settings, rollback: "ask" });
  expect((await running.work(refuses, { ask: async () => false })).state).toBe("PARTIAL");
  expect([...running.fake.objects.keys()]).toEqual(["shop/a", "shop/d"]);
  // Where nothing was made nobody is asked.
  running.fake.refuse = refused("e");
  const nothing = await running.begin(templateOf([configMap("e")]), { rollback: "ask" });
  const ask = async (): Promise<boolean> => expect.fail("it was asked");
  expect((await running.work(nothing, { ask })).state).toBe("FAILED");
});

test("R4: the last wave goes first", async () => {
  await using running = await Running.open();
  const wave = (name: string, at: number) => configMap(name, { annotations: { "trawler.dev/wave": String(at) } });
  running.fake.refuse = refused("last");
  const instance = await running.begin(templateOf([wave("one", 1), wave("last", 9), wave("three", 3), wave("two", 2)]));
  await running.work(instance);
  const removed = running.fake.writes.filter((line) => line.startsWith("DELETE"));
  expect(removed.map((line) => line.split("/").at(-1))).toEqual(["three", "two", "one"]);
});

/** A workload that is gone while the pod that its controller made lives on, since nothing collects it here. */
async function orphaned(running: Running, rollback: "auto" | "deep") {
  const { fake } = running;
  fake.refuse = refused("bad");
  fake.keep = (object) => {
    const { kind, metadata } = JSON.parse(JSON.stringify(object));
    if (kind === "ReplicationController") {
      const owned = (name: string, owner: string) => ({
        kind: "Pod",
        metadata: { name, namespace: "shop", uid: `uid-${name}`, ownerReferences: [{ uid: owner }] },
      });
      fake.objects.set("shop/ours", owned("ours", metadata.uid));
      fake.objects.set("shop/other", owned("other", "uid-of-a-stranger"));
    }
    return object;
  };
  const controller = { apiVersion: "v1", kind: "ReplicationController", metadata: { name: "r" } };
  const bad = configMap("bad", { annotations: { "trawler.dev/wave": "9" } });
  return running.work(await running.begin(templateOf([controller, bad]), { rollback }));
}

test("R6: what controllers made and what outlives its owner is told", async () => {
  await using running = await Running.open();
  const report = await orphaned(running, "auto");
  expect([report.state, report.rollback]).toEqual(["PARTIAL", "incomplete"]);
  expect(report.leftovers).toMatchObject([
    { kind: "Pod", name: "ours", uid: "uid-ours", command: "kubectl delete pods ours -n shop" },
  ]);
  expect([...running.fake.objects.keys()].toSorted()).toEqual(["shop/other", "shop/ours"]);
});

test("R6: by policy deep it goes too, by its uid; what is of other owners stays", async () => {
  await using running = await Running.open();
  const report = await orphaned(running, "deep");
  expect([report.state, report.rollback, report.leftovers]).toEqual(["FAILED", "complete", []]);
  expect([...running.fake.objects.keys()]).toEqual(["shop/other"]);
});

test("C148: an API server that goes away during the rollback is asked again; the first error stays the headline", async () => {
  await using running = await Running.open();
  running.fake.refuse = refused("c3");
  let away = 3;
  running.fake.interfere = (method) =>
    method === "DELETE" && away-- > 0 ? [503, { reason: "ServiceUnavailable", message: "away" }] : undefined;
  const report = await running.work(await running.begin(templateOf(numbered(3)), { parallel: 1 }));
  expect([report.state, report.rollback, report.headline]).toEqual([
    "FAILED",
    "complete",
    "ConfigMap shop/c3: c3 is refused",
  ]);
  expect(running.fake.objects.size).toBe(0);
});

test("P5: rights in a namespace that the run makes are asked for again once it is there: they may have come with it", async () => {
  await using running = await Running.open();
  const { fake } = running;
  const options = { createNamespace: true, namespace: "new" };
  fake.allow = (_, __, namespace) => namespace !== "new" || fake.objects.has("/new");
  const { findings } = await running.check(templateOf(numbered(1)), options);
  expect(findings).toMatchObject([{ severity: "warning", check: "rights" }]);
  const report = await running.work(await running.begin(templateOf(numbered(2)), {}, options));
  expect([report.state, statesOf(report)]).toEqual(["SUCCEEDED", ["new: created", "c1: created", "c2: created"]]);
});

test("P5: where they did not come, all denials are told together, nothing is tried, and the namespace goes again", async () => {
  await using running = await Running.open();
  const { fake } = running;
  fake.allow = (verb, _, namespace) => verb !== "create" || namespace !== "new";
  fake.interfere = (_, path) => (path === "/apis" ? [200, { groups: [] }] : undefined);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
  const options = { createNamespace: true, namespace: "new" };
  const report = await running.work(await running.begin(templateOf([...numbered(2), secret]), {}, options));
  expect([report.state, report.rollback]).toEqual(["FAILED", "complete"]);
  expect(statesOf(report)).toEqual(["new: rolledBack", "c1: failed", "c2: failed", "s: failed"]);
  expect(report.objects.slice(1).map(({ error, attempts }) => [error?.code, attempts])).toEqual(
    Array.from({ length: 3 }, () => [403, 0]),
  );
  expect(fake.made).toEqual(["/new"]);
});

test("failure 20: bodies on their way stay below a bound; one that is larger goes alone, and none is overtaken", async () => {
  const gate = new ByteGate(10);
  const ends: (() => void)[] = [];
  const started: number[] = [];
  const all = [4, 4, 12, 1].map((size) =>
    gate.run(size, () => {
      started.push(size);
      return new Promise<void>((resolve) => ends.push(resolve));
    }),
  );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(started).toEqual([4, 4]);
  ends.shift()?.();
  await settle();
  expect(started).toEqual([4, 4]);
  ends.shift()?.();
  await settle();
  expect(started).toEqual([4, 4, 12]);
  ends.shift()?.();
  await settle();
  expect(started).toEqual([4, 4, 12, 1]);
  ends.shift()?.();
  await Promise.all(all);
});
