import { gzipSync } from "node:zlib";
import { Pipeline } from "@trawler/engine";
import { retryable, TrawlerError, type Workload } from "@trawler/plugin-api";
import { collectingEmitter, fakeWorkload, validateFrame } from "@trawler/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { crawlerOf, fact, pipelineOf } from "./support.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const never = new AbortController().signal;
const incomplete = { complete: false, reason: "the API has not answered yet", groups: {} };

async function settle<T>(work: Promise<T>): Promise<T | unknown> {
  const settled = work.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_000);
  return settled;
}

test("once takes what runs and was not opted out, in workloads that the mode accepts", async () => {
  const { environment, emitter, options } = pipelineOf();
  const workloads: readonly Workload[] = [
    fakeWorkload({ id: "runs" }),
    fakeWorkload({ id: "waits", lifecycle: "waiting" }),
    fakeWorkload({ id: "ended", lifecycle: "ended" }),
    fakeWorkload({ id: "out", annotations: { "trawler.dev/crawl": "false" } }),
    fakeWorkload({ id: "gone" }),
  ];
  environment.push(...workloads.map((workload) => ({ type: "added", workload }) as const));
  environment.push({ type: "removed", workload: fakeWorkload({ id: "gone" }) }, { type: "synced" });
  expect(await settle(new Pipeline(options).once(never))).toEqual({ frames: 1, problems: 0, lost: 0 });
  expect(emitter.envelopes.map(({ key }) => key)).toEqual(["runs"]);
});

test("parity B6: of eight containers, two at a time, each has exactly one frame", async () => {
  let [now, most] = [0, 0];
  const slow = crawlerOf(async function* () {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 10));
    now--;
    yield fact(1);
  });
  const { environment, emitter, options } = pipelineOf({ crawlers: [slow], concurrency: 2 });
  const ids = Array.from({ length: 8 }, (_, at) => `container-${at}`);
  environment.push(...ids.map((id) => ({ type: "added", workload: fakeWorkload({ id }) }) as const), {
    type: "synced",
  });
  expect(await settle(new Pipeline(options).once(never))).toEqual({ frames: 8, problems: 0, lost: 0 });
  expect(emitter.envelopes.map(({ key }) => key).toSorted()).toEqual(ids);
  expect(most).toBe(2);
});

test("once waits a moment for metadata, and no longer", async () => {
  const first = pipelineOf();
  first.environment.push({ type: "added", workload: fakeWorkload({ metadata: incomplete }) }, { type: "synced" });
  first.environment.push({ type: "updated", workload: fakeWorkload({ labels: { app: "cart" } }) });
  await settle(new Pipeline(first.options).once(never));
  expect(first.emitter.frames).toMatchObject([{ labels: { app: "cart" }, metadata: { complete: true } }]);
  const second = pipelineOf();
  second.environment.push({ type: "added", workload: fakeWorkload({ metadata: incomplete }) }, { type: "synced" });
  await settle(new Pipeline(second.options).once(never));
  expect(second.emitter.frames).toMatchObject([{ metadata: { complete: false } }]);
});

test("once fails where the environment fails or never reports all", async () => {
  const failing = pipelineOf();
  failing.environment.fail(retryable("no socket"));
  expect(await settle(new Pipeline(failing.options).once(never))).toMatchObject({ code: "TRAWLER_RETRY" });
  const silent = pipelineOf();
  expect(await settle(new Pipeline(silent.options).once(never))).toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
});

test("once says how many envelopes no emitter took in time", async () => {
  const away = collectingEmitter({ answer: () => Promise.reject(retryable("broker away")) });
  const { environment, options } = pipelineOf({ emitters: [away] });
  environment.push({ type: "added", workload: fakeWorkload() }, { type: "synced" });
  expect(await settle(new Pipeline(options).once(never))).toEqual({ frames: 1, problems: 0, lost: 1 });
});

test("a subject that cannot be opened still has its frame, with the reason in it", async () => {
  const { environment, emitter, metrics, options } = pipelineOf();
  options.mode.instance.open = () => Promise.reject(new TrawlerError("TRAWLER_DENIED", "no right to read /proc"));
  environment.push({ type: "added", workload: fakeWorkload() }, { type: "synced" });
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  await vi.advanceTimersByTimeAsync(1000);
  stop.abort();
  await settle(running);
  expect(emitter.frames).toMatchObject([
    { reason: "started", problems: [{ crawler: null, code: "denied", message: "no right to read /proc" }] },
  ]);
  expect(metrics.counts.get("problem null denied")).toBe(1);
});

test("each emitter gets what fits it, and a frame that fits nowhere is named and counted", async () => {
  const large = crawlerOf(async function* () {
    for (let index = 0; index < 60; index++) yield fact("x".repeat(2000), `${index}`);
  });
  const all = collectingEmitter({ id: "all" });
  const small = collectingEmitter({ id: "small", maxBytes: 20_000 });
  const tiny = collectingEmitter({ id: "tiny", maxBytes: 100 });
  // C126: its limit counts what compression leaves, so the whole frame fits.
  const compressing = collectingEmitter({ id: "compressing", maxBytes: 20_000 });
  compressing.instance.sizeOf = (bytes) => gzipSync(bytes).length;
  const { environment, log, metrics, options } = pipelineOf({
    crawlers: [large],
    emitters: [all, small, tiny, compressing],
  });
  environment.push({ type: "added", workload: fakeWorkload() }, { type: "synced" });
  expect(await settle(new Pipeline(options).once(never))).toMatchObject({ frames: 1, lost: 1 });
  expect(all.frames[0]?.containers[0]?.features).toHaveLength(60);
  expect(compressing.frames).toEqual(all.frames);
  expect(small.frames.length).toBeGreaterThan(1);
  expect(small.frames.flatMap(({ containers }) => containers.flatMap(({ features }) => features))).toHaveLength(20);
  expect(small.envelopes.map(({ id, frameId }) => id === `${frameId}#${id.slice(-1)}`)).not.toContain(false);
  for (const frame of [...all.frames, ...small.frames]) expect(validateFrame(frame)).toEqual([]);
  expect(tiny.frames).toEqual([]);
  expect(metrics.counts.get("lost oversized")).toBe(1);
  expect(log.lines).toMatchObject([{ level: "warn", fields: { emitter: "tiny", name: "shop/cart-0", maxBytes: 100 } }]);
});

test("run rejects where no new attempt can mend discovery, and ends where an environment ignores its signal", async () => {
  const wrong = pipelineOf();
  wrong.environment.fail(new TrawlerError("TRAWLER_PLATFORM", "this is no Linux"));
  expect(await settle(new Pipeline(wrong.options).run(never))).toMatchObject({ code: "TRAWLER_PLATFORM" });
  const deaf = pipelineOf();
  deaf.environment.instance.discover = async function* () {
    yield { type: "synced" };
    await new Promise(() => {});
  };
  const stop = new AbortController();
  const pipeline = new Pipeline(deaf.options);
  const running = pipeline.run(stop.signal);
  await vi.advanceTimersByTimeAsync(100);
  expect(pipeline.ready).toBe(true);
  stop.abort();
  expect(await settle(running)).toBeUndefined();
});

test("an environment that ends by itself leaves its workloads crawled", async () => {
  const { environment, emitter, options } = pipelineOf({ every: 1 });
  const host = fakeWorkload({ kind: "host", id: "node-a", name: "node-a", containers: [] });
  environment.push({ type: "added", workload: host }, { type: "synced" });
  environment.end();
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  await vi.advanceTimersByTimeAsync(5000);
  stop.abort();
  await settle(running);
  expect(emitter.frames.length).toBeGreaterThanOrEqual(5);
});

test("over a second, once reads what gives rates twice, and what is costly or works by difference once", async () => {
  const calls: string[] = [];
  const counting = (name: string, over: object = {}) =>
    crawlerOf(
      async function* (_access, { state }) {
        calls.push(name);
        yield fact(state.get("calls") ?? 0, name);
        state.set("calls", 1);
      },
      { name, ...over },
    );
  const crawlers = [counting("figures"), counting("slow", { every: 300 }), counting("files", { onChange: true })];
  const { environment, emitter, options } = pipelineOf({ crawlers });
  environment.push({ type: "added", workload: fakeWorkload() }, { type: "synced" });
  expect(await settle(new Pipeline(options).once(never, { over: 1 }))).toEqual({ frames: 1, problems: 0, lost: 0 });
  expect(calls.toSorted()).toEqual(["figures", "figures", "files", "slow"]);
  const [frame] = emitter.frames;
  const features = [...(frame?.features ?? []), ...(frame?.containers.flatMap((one) => one.features) ?? [])];
  // What was kept at the first reading is there at the second.
  expect(features.map(({ key, value }) => [key, value])).toEqual([
    ["figures", { value: 1 }],
    ["slow", { value: 0 }],
    ["files", { value: 0 }],
  ]);
});
