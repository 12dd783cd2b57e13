import { Pipeline } from "@trawler/engine";
import { retryable } from "@trawler/plugin-api";
import { collectingEmitter, fakeWorkload } from "@trawler/testkit";
import { expect, test } from "vitest";
import { pipelineOf, until } from "./support.ts";

test("once crawls what is there, sends one frame each and ends", async () => {
  const { environment, emitter, options } = pipelineOf();
  const other = fakeWorkload({ id: "2", name: "shop/other" });
  environment.push({ type: "added", workload: fakeWorkload() }, { type: "added", workload: other }, { type: "synced" });
  const done = await new Pipeline(options).once(new AbortController().signal, {
    filter: ({ name }) => name === "shop/cart-0",
  });
  expect(done).toEqual({ frames: 1, problems: 0, lost: 0 });
  expect(emitter.frames).toMatchObject([
    {
      schema: "trawler.frame/1",
      sequence: 1,
      reason: "interval",
      final: false,
      resource: { "k8s.pod.name": "cart-0" },
      containers: [{ name: "app", features: [{ type: "fact", key: "fact", value: { value: 1 } }] }],
    },
  ]);
});

test("parity W8: run writes started, interval and ended frames in one sequence and flushes at a stop", async () => {
  const { environment, emitter, options } = pipelineOf({ every: 0.05 });
  const pipeline = new Pipeline(options);
  const stop = new AbortController();
  const running = pipeline.run(stop.signal);
  const workload = fakeWorkload();
  environment.push({ type: "added", workload }, { type: "synced" });
  await until(() => emitter.frames.length >= 3);
  expect(pipeline.ready).toBe(true);
  environment.push({ type: "removed", workload });
  await until(() => emitter.frames.at(-1)?.final === true);
  stop.abort();
  await running;
  const reasons = emitter.frames.map(({ reason }) => reason);
  expect(reasons[0]).toBe("started");
  expect(reasons.at(-1)).toBe("ended");
  expect(new Set(reasons.slice(1, -1))).toEqual(new Set(["interval"]));
  expect(emitter.frames.map(({ sequence }) => sequence)).toEqual(reasons.map((_, index) => index + 1));
  expect(options.mode.closed).toEqual([workload.id]);
});

test("a discovery that fails is begun again, and what has gone meanwhile is ended at synced", async () => {
  const { environment, emitter, options } = pipelineOf();
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  const [stays, goes] = [fakeWorkload({ id: "stays", name: "a/stays" }), fakeWorkload({ id: "goes", name: "a/goes" })];
  environment.push({ type: "added", workload: stays }, { type: "added", workload: goes }, { type: "synced" });
  await until(() => emitter.frames.length === 2);
  environment.fail(retryable("the socket broke"));
  environment.push({ type: "added", workload: stays }, { type: "synced" });
  await until(() => emitter.frames.length === 3);
  expect(environment.calls).toBe(2);
  expect(emitter.frames.at(-1)).toMatchObject({ reason: "ended", final: true });
  expect(emitter.envelopes.at(-1)?.key).toBe("goes");
  stop.abort();
  await running;
});

test("parity E16: an emitter in trouble slows neither another one nor the crawl", async () => {
  const stuck = collectingEmitter({
    id: "stuck",
    answer: () => new Promise(() => {}),
    queue: { bytes: 1e6, frames: 4 },
  });
  const good = collectingEmitter({ id: "good" });
  const { environment, metrics, options } = pipelineOf({ every: 0.02, emitters: [stuck, good], flushTimeout: 0.05 });
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  environment.push({ type: "added", workload: fakeWorkload() }, { type: "synced" });
  await until(() => good.frames.length > 10);
  await until(() => (metrics.counts.get("lost overflow") ?? 0) > 0);
  stop.abort();
  await running;
  expect(metrics.counts.get("lost shutdown")).toBeGreaterThan(0);
});

test("explain says who found it, where it stands and how each crawler did", async () => {
  const { environment, emitter, options } = pipelineOf();
  const pipeline = new Pipeline(options);
  const stop = new AbortController();
  const running = pipeline.run(stop.signal);
  const out = fakeWorkload({ id: "out", name: "shop/out", annotations: { "trawler.dev/crawl": "false" } });
  environment.push({ type: "added", workload: fakeWorkload() }, { type: "added", workload: out }, { type: "synced" });
  await until(() => emitter.frames.length === 1);
  expect(pipeline.explain("shop/cart-0")).toMatchObject({
    foundBy: "scripted: a script",
    skipped: null,
    phase: "running",
    lastFrame: { reason: "started", sequence: 1 },
    crawlers: [{ crawler: "probe", result: "ok", features: 1 }],
  });
  expect(pipeline.explain("shop/out")).toMatchObject({ skipped: 'annotation trawler.dev/crawl is "false"' });
  expect(pipeline.explain("shop/none")).toBeNull();
  stop.abort();
  await running;
});

test("a pod that opts out and in again counts its frames on", async () => {
  const { environment, emitter, options } = pipelineOf();
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  const workload = fakeWorkload();
  environment.push({ type: "added", workload }, { type: "synced" });
  await until(() => emitter.frames.length === 1);
  const out = { ...workload, annotations: { "trawler.dev/crawl": "false" } };
  environment.push({ type: "updated", workload: out }, { type: "updated", workload });
  await until(() => emitter.frames.length === 2);
  environment.push({ type: "removed", workload });
  await until(() => emitter.frames.length === 3);
  stop.abort();
  await running;
  expect(emitter.frames.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
});

test("a pod that the settings no longer want has not ended, and is crawled again once they want it", async () => {
  const { environment, emitter, options } = pipelineOf();
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  const workload = fakeWorkload();
  environment.push({ type: "added", workload }, { type: "synced" });
  await until(() => emitter.frames.length === 1);
  environment.push({ type: "removed", workload, unselected: true }, { type: "added", workload });
  await until(() => emitter.frames.length === 2);
  environment.push({ type: "removed", workload });
  await until(() => emitter.frames.length === 3);
  stop.abort();
  await running;
  expect(emitter.frames.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  expect(emitter.frames.map(({ final }) => final)).toEqual([false, false, true]);
});

test("a pod that has ended and then opts out and in again does not end twice", async () => {
  const { environment, emitter, options } = pipelineOf();
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  const workload = fakeWorkload();
  environment.push({ type: "added", workload }, { type: "synced" });
  await until(() => emitter.frames.length === 1);
  const over = fakeWorkload({
    lifecycle: "ended",
    containers: workload.containers.map((one) => ({ ...one, state: { ...one.state, status: "terminated" } })),
    status: workload.status && { ...workload.status, phase: "Succeeded" },
  });
  environment.push({ type: "updated", workload: over });
  await until(() => emitter.frames.length === 2);
  const out = { ...over, annotations: { "trawler.dev/crawl": "false" } };
  const other = fakeWorkload({ id: "2", name: "shop/other" });
  environment.push({ type: "updated", workload: out }, { type: "updated", workload: over });
  environment.push({ type: "removed", workload: over }, { type: "added", workload: other });
  await until(() => emitter.frames.length > 2);
  stop.abort();
  await running;
  expect(emitter.frames.filter(({ final }) => final)).toHaveLength(1);
});
