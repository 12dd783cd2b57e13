import { Pipeline } from "@trawler/engine";
import { type Frame, TrawlerError, type Workload } from "@trawler/plugin-api";
import { fakeCgroup, fakeContainer, fakeMode, fakeWorkload } from "@trawler/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { crawlerOf, fact, pipelineOf } from "./support.ts";

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 30) }));
afterEach(() => vi.useRealTimers());

const now = (): string => new Date().toISOString();
const status = {
  phase: "Running",
  reason: null,
  qosClass: null,
  startTime: null,
  resourceVersion: "1",
  generation: 1,
  static: false,
  hostNetwork: false,
  ips: [],
  conditions: [],
};

function podOf(state: "running" | "terminated", overrides: Partial<Workload> = {}): Workload {
  const container = fakeContainer();
  return fakeWorkload({
    status: { ...status, phase: state === "running" ? "Running" : "Succeeded" },
    lifecycle: state === "running" ? "running" : "ended",
    containers: [{ ...container, state: { ...container.state, status: state, startedAt: now() } }],
    ...overrides,
  });
}

/** CPU time of a pod and its container from a scripted counter; a container that has ended gives nothing. */
function cpuPipeline(overrides: Parameters<typeof pipelineOf>[0] = {}) {
  const figures = {
    monotonic: 0,
    user: null,
    system: null,
    periods: null,
    throttledPeriods: null,
    throttledTime: null,
    limit: null,
  };
  const world = { pod: 0, container: 0, gone: false };
  const cpu = (read: () => number) => ({ ...fakeCgroup({}), cpu: async () => ({ ...figures, time: read() }) });
  const read = (which: "pod" | "container") => () => {
    if (world.gone) throw new TrawlerError("TRAWLER_GONE", "the cgroup has gone");
    return world[which];
  };
  const mode = fakeMode({
    subject: () => ({ cgroup: cpu(read("pod")) }),
    member: () => ({ cgroup: cpu(read("container")) }),
  });
  const crawler = crawlerOf(
    async function* ({ cgroup }) {
      yield fact((await cgroup.cpu()).time);
    },
    { name: "cpu", scope: "both", needs: ["cgroup"] },
  );
  return { world, ...pipelineOf({ mode, crawlers: [crawler], ...overrides }) };
}

const factOf = (frame: Frame | undefined, container = false): unknown => {
  const features = container ? frame?.containers[0]?.features : frame?.features;
  return features?.[0] && { ...Object(features[0].value), observedAt: features[0].observedAt };
};

test("a pod that burns CPU for 2 s and exits between two slots leaves its last figures in the ended frame", async () => {
  const { environment, emitter, options, world } = cpuPipeline();
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  environment.push({ type: "synced" }, { type: "added", workload: podOf("running") });
  for (let tenth = 1; tenth <= 20; tenth++) {
    await vi.advanceTimersByTimeAsync(100);
    world.pod = world.container = tenth / 10;
  }
  await vi.advanceTimersByTimeAsync(50);
  environment.push({ type: "updated", workload: podOf("terminated") });
  await vi.advanceTimersByTimeAsync(1000);
  const ended = emitter.frames.at(-1);
  expect(emitter.frames.map(({ reason }) => reason)).toEqual(["started", "ended"]);
  expect(ended).toMatchObject({ final: true, sequence: 2, observedFor: 2.05, problems: [] });
  // The pod's total is read at the stop; the container's own last sample is that of the stop event.
  expect(factOf(ended)).toMatchObject({ value: 2 });
  expect(factOf(ended, true)).toMatchObject({ value: 2, observedAt: "2026-11-30T00:00:02.050Z" });
  stop.abort();
  await vi.runAllTimersAsync();
  await running;
});

test("where nothing can be read at the end, the samples of the young container stand in with their time", async () => {
  const { environment, emitter, options, world } = cpuPipeline();
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  environment.push({ type: "synced" }, { type: "added", workload: podOf("running") });
  await vi.advanceTimersByTimeAsync(100);
  world.pod = world.container = 0.2;
  await vi.advanceTimersByTimeAsync(200);
  expect(emitter.frames).toHaveLength(1);
  world.gone = true;
  const dead = podOf("terminated");
  environment.push(
    { type: "removed", workload: { ...dead, containers: [] } },
    { type: "added", workload: podOf("terminated", { id: "2" }) },
  );
  await vi.advanceTimersByTimeAsync(3000);
  const ended = emitter.frames.filter(({ reason }) => reason === "ended");
  const first = emitter.envelopes.findIndex(({ key, reason }) => key !== "2" && reason === "ended");
  expect(factOf(emitter.frames[first])).toMatchObject({ value: 0.2, observedAt: "2026-11-30T00:00:00.250Z" });
  expect(ended.map(({ sequence }) => sequence)).toEqual([2, 2]);
  stop.abort();
  await vi.runAllTimersAsync();
  await running;
});

test("every slot has exactly one interval frame of each running pod, on a planned grid", async () => {
  const { environment, emitter, metrics, options } = cpuPipeline({ every: 5 });
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  const pods = Array.from({ length: 20 }, (_, index) =>
    podOf("running", { id: `pod-${index}`, name: `shop/pod-${index}` }),
  );
  environment.push(...pods.map((workload) => ({ type: "added", workload }) as const), { type: "synced" });
  await vi.advanceTimersByTimeAsync(60_000);
  stop.abort();
  await vi.runAllTimersAsync();
  await running;
  for (const { id } of pods) {
    const frames = emitter.frames.filter((_, index) => emitter.envelopes[index]?.key === id);
    expect(frames.map(({ reason }) => reason)).toEqual(["started", ...Array(12).fill("interval")]);
    expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index + 1));
    const times = frames.slice(1).map(({ time }) => Date.parse(time));
    for (const [index, time] of times.entries()) if (index > 0) expect(time - (times[index - 1] ?? 0)).toBe(5000);
  }
  expect(metrics.counts.get("skipped")).toBeUndefined();
});

test("C153, parity W6: a crawl longer than the interval never overlaps with itself; slots it misses are counted", async () => {
  let open = 0;
  let most = 0;
  const slow = crawlerOf(
    async function* () {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 2500));
      open--;
      yield fact(1);
    },
    { timeout: 10_000 },
  );
  const { environment, emitter, metrics, options } = pipelineOf({ crawlers: [slow], every: 1 });
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  environment.push({ type: "added", workload: podOf("running") }, { type: "synced" });
  await vi.advanceTimersByTimeAsync(30_000);
  stop.abort();
  await vi.runAllTimersAsync();
  await running;
  expect(most).toBe(1);
  expect(metrics.counts.get("skipped")).toBeGreaterThan(10);
  expect(emitter.frames.filter(({ reason }) => reason === "interval").length).toBeGreaterThan(5);
});

test("a slow application holds up neither the slot of other pods nor their ends", async () => {
  const slow = crawlerOf(
    async function* ({ meta }) {
      if (meta.workload.id === "slow") await new Promise(() => {});
      yield fact(1);
    },
    { timeout: 5000, needs: ["meta"] },
  );
  const { environment, emitter, options } = pipelineOf({ crawlers: [slow], every: 1, concurrency: 2 });
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  const [one, two] = [podOf("running", { id: "slow" }), podOf("running", { id: "quick" })];
  environment.push({ type: "added", workload: one }, { type: "added", workload: two }, { type: "synced" });
  await vi.advanceTimersByTimeAsync(20_000);
  const quick = emitter.envelopes.filter(({ key }) => key === "quick");
  expect(quick.length).toBeGreaterThanOrEqual(20);
  const problems = emitter.frames.flatMap(({ containers }) => containers.flatMap((container) => container.problems));
  expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(["timeout", "busy"]));
  stop.abort();
  await vi.runAllTimersAsync();
  await running;
});

test("a container that restarts under a new id is followed, and the old one's figures are freed", async () => {
  const { environment, emitter, options } = cpuPipeline({ every: 1 });
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  environment.push({ type: "added", workload: podOf("running") }, { type: "synced" });
  await vi.advanceTimersByTimeAsync(1500);
  const again = fakeContainer({ id: "d".repeat(64) });
  environment.push({ type: "updated", workload: { ...podOf("running"), containers: [again] } });
  await vi.advanceTimersByTimeAsync(3000);
  const last = emitter.frames.at(-1);
  expect(emitter.frames.some(({ reason }) => reason === "changed")).toBe(true);
  expect(last?.containers).toMatchObject([{ id: again.id, features: [{ type: "fact" }] }]);
  expect(options.mode.opened).toHaveLength(1);
  stop.abort();
  await vi.runAllTimersAsync();
  await running;
});

test("what ended before the agent looked is not reported; what is missed later is", async () => {
  const { environment, emitter, options } = cpuPipeline();
  const stop = new AbortController();
  const pipeline = new Pipeline(options);
  const running = pipeline.run(stop.signal);
  environment.push(
    { type: "added", workload: podOf("terminated", { id: "old", name: "shop/old" }) },
    { type: "synced" },
  );
  environment.push({ type: "added", workload: podOf("terminated", { id: "new" }) });
  await vi.advanceTimersByTimeAsync(5000);
  expect(emitter.envelopes.map(({ key, reason }) => [key, reason])).toEqual([
    ["new", "started"],
    ["new", "ended"],
  ]);
  expect(pipeline.explain("shop/old")?.skipped).toBe("it ended before the agent looked");
  environment.push({ type: "removed", workload: podOf("terminated", { id: "new" }) });
  environment.push({ type: "added", workload: podOf("running", { id: "new" }) });
  await vi.advanceTimersByTimeAsync(5000);
  expect(emitter.frames).toHaveLength(2);
  stop.abort();
  await vi.runAllTimersAsync();
  await running;
});

test("a container that is started again under its id is crawled again; its frames are counted on", async () => {
  const { environment, emitter, options } = cpuPipeline();
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  const first = podOf("running", { kind: "container" });
  const over = { ...podOf("terminated", { kind: "container" }), containers: podOf("terminated").containers };
  environment.push({ type: "added", workload: first }, { type: "synced" });
  await vi.advanceTimersByTimeAsync(1000);
  environment.push({ type: "updated", workload: over });
  await vi.advanceTimersByTimeAsync(1000);
  // A late word of the run that has ended begins nothing.
  environment.push({ type: "removed", workload: over }, { type: "added", workload: first });
  await vi.advanceTimersByTimeAsync(1000);
  expect(emitter.frames.map(({ reason }) => reason)).toEqual(["started", "ended"]);
  const second = podOf("running", { kind: "container" });
  environment.push({ type: "removed", workload: over }, { type: "added", workload: second });
  await vi.advanceTimersByTimeAsync(1000);
  environment.push({ type: "updated", workload: podOf("terminated", { kind: "container" }) });
  await vi.advanceTimersByTimeAsync(1000);
  // Its start was missed while the engine was away: the next thing heard of it is another run.
  environment.push({ type: "added", workload: podOf("running", { kind: "container" }) });
  await vi.advanceTimersByTimeAsync(1000);
  expect(emitter.frames.map(({ reason }) => reason)).toEqual(["started", "ended", "started", "ended", "started"]);
  expect(emitter.frames.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
  stop.abort();
  await vi.runAllTimersAsync();
  await running;
});

test("a stop in the middle writes what is held back, and nothing after it", async () => {
  const { environment, emitter, options } = cpuPipeline();
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  environment.push({ type: "synced" }, { type: "added", workload: podOf("running") });
  await vi.advanceTimersByTimeAsync(1000);
  const metadata = { complete: false, reason: "the API is away", groups: {} };
  environment.push({ type: "updated", workload: podOf("terminated", { metadata }) });
  await vi.advanceTimersByTimeAsync(100);
  expect(emitter.frames.map(({ reason }) => reason)).toEqual(["started"]);
  stop.abort();
  await vi.runAllTimersAsync();
  await running;
  expect(emitter.frames.map(({ reason }) => reason)).toEqual(["started", "ended"]);
  expect(factOf(emitter.frames[1])).toMatchObject({ value: 0 });
});

test("the ended frame carries the last digest of what is sent by difference, not its features once more", async () => {
  const packages = crawlerOf(
    async function* (_, context) {
      if (context.unchanged("1")) return;
      yield fact("1.0", "bash");
    },
    { name: "package", onChange: true },
  );
  const { environment, emitter, options } = pipelineOf({ crawlers: [packages], every: 10 });
  const stop = new AbortController();
  const running = new Pipeline(options).run(stop.signal);
  environment.push({ type: "synced" }, { type: "added", workload: podOf("running") });
  await vi.advanceTimersByTimeAsync(25_000);
  environment.push({ type: "updated", workload: podOf("terminated") });
  await vi.advanceTimersByTimeAsync(3000);
  const said = emitter.frames.map(({ reason, containers: [container] }) => {
    const digest = container?.digests?.["package"];
    return [reason, container?.features.length, digest?.changed, digest?.included];
  });
  expect(said[0]).toEqual(["started", 1, null, true]);
  expect(said.slice(1, -1)).toEqual(said.slice(1, -1).map(() => ["interval", 0, false, false]));
  expect(said.length).toBeGreaterThan(3);
  expect(said.at(-1)).toEqual(["ended", 0, false, false]);
  stop.abort();
  await vi.runAllTimersAsync();
  await running;
});
