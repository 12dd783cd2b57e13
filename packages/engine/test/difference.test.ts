import { CrawlMemory, collect, SubjectCrawler, type TargetResult } from "@trawler/engine";
import { type Subject, TrawlerError, type Workload } from "@trawler/plugin-api";
import { collectingMetrics, fakeClock, fakeContainer, fakeWorkload, silentLog } from "@trawler/testkit";
import { expect, test } from "vitest";
import { crawlerOf, fact } from "./support.ts";

const signal = new AbortController().signal;

interface Disk {
  packages: readonly string[];
  /** Stands for size and time of the database. */
  version: number;
  reads: number;
  fails: Error | null;
}

/** A crawler that works by difference on a disk that the test changes, crawled every ten seconds. */
function scene(settings: { readonly every?: number; readonly refresh?: number; readonly asks?: boolean } = {}) {
  const { asks = true, ...rest } = settings;
  const disk: Disk = { packages: ["a", "b"], version: 1, reads: 0, fails: null };
  const crawler = crawlerOf(
    async function* (_, context) {
      if (asks && context.unchanged(`version ${disk.version}`)) return;
      disk.reads++;
      for (const name of disk.packages) yield fact(1, name);
      if (disk.fails) throw disk.fails;
    },
    { name: "package", onChange: true, named: true, ...rest },
  );
  const clock = fakeClock();
  const metrics = collectingMetrics();
  const memory = new CrawlMemory();
  const subjects = new SubjectCrawler({
    crawlers: [crawler],
    hasMembers: true,
    clock,
    log: silentLog,
    metrics,
    slot: 10,
  });
  const crawl = async (workload: Workload = fakeWorkload()): Promise<TargetResult> => {
    const members = new Map(workload.containers.flatMap(({ id }) => (id === null ? [] : [[id, {}] as const])));
    const subject: Subject = { access: {}, members, async update() {}, async [Symbol.asyncDispose]() {} };
    const { outcomes } = await subjects.crawl(workload, subject, memory, signal);
    clock.advance(10_000);
    return collect(outcomes, workload.containers[0]?.id ?? "");
  };
  /** What one frame says, in short. */
  const frame = async (workload?: Workload): Promise<readonly unknown[]> => {
    const { features, digests } = await crawl(workload);
    const digest = digests?.["package"];
    return [features.map(({ key }) => key).join(), digest?.changed, digest?.included];
  };
  return { disk, memory, crawl, frame, clock };
}

test("the features stand in the frame at first sight and when they changed, their digest always", async () => {
  const { disk, crawl, frame } = scene();
  const first = await crawl();
  expect(first.features.map(({ key }) => key)).toEqual(["a", "b"]);
  expect(first.digests).toEqual({
    package: {
      types: ["fact"],
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      changed: null,
      included: true,
      observedAt: "2026-01-01T00:00:00.000Z",
    },
  });
  const second = await crawl();
  expect(second.features).toEqual([]);
  expect(second.digests?.["package"]).toEqual({
    ...first.digests?.["package"],
    changed: false,
    included: false,
    observedAt: "2026-01-01T00:00:10.000Z",
  });
  disk.packages = ["a", "c"];
  disk.version++;
  expect(await frame()).toEqual(["a,c", true, true]);
  expect(await frame()).toEqual(["", false, false]);
});

test("equal features have equal digests, in another agent too", async () => {
  const [one, two] = await Promise.all([scene().crawl(), scene().crawl()]);
  expect(one.digests?.["package"]?.digest).toBe(two.digests?.["package"]?.digest);
});

test("one whose inputs are unchanged is not read; a change of its inputs that changes nothing is no news", async () => {
  const { disk, frame } = scene();
  await frame();
  for (let index = 0; index < 5; index++) await frame();
  expect(disk.reads).toBe(1);
  disk.version++;
  expect(await frame()).toEqual(["", false, false]);
  expect(disk.reads).toBe(2);
  await frame();
  expect(disk.reads).toBe(2);
});

test("a long fingerprint is compared whole", async () => {
  const { disk, frame } = scene();
  disk.version = 10 ** 300;
  await frame();
  disk.version = 10 ** 299;
  await frame();
  await frame();
  expect(disk.reads).toBe(2);
});

test("the whole value is sent again once a refresh period, read anew", async () => {
  const { disk, frame } = scene({ refresh: 30 });
  const frames = [];
  for (let index = 0; index < 7; index++) frames.push(await frame());
  const silent = ["", false, false];
  expect(frames).toEqual([
    ["a,b", null, true],
    silent,
    silent,
    ["a,b", false, true],
    silent,
    silent,
    ["a,b", false, true],
  ]);
  expect(disk.reads).toBe(3);
});

test("without settings it is due after an hour", async () => {
  const { frame, clock } = scene();
  await frame();
  clock.advance(3_580_000);
  expect(await frame()).toEqual(["", false, false]);
  expect(await frame()).toEqual(["a,b", false, true]);
});

test("frames between two calls carry the digest of the last one", async () => {
  const { disk, crawl, frame } = scene({ every: 30, asks: false });
  await frame();
  disk.packages = ["z"];
  expect((await crawl()).digests?.["package"]).toMatchObject({
    included: false,
    observedAt: "2026-01-01T00:00:00.000Z",
  });
  expect(await frame()).toEqual(["", false, false]);
  expect(await frame()).toEqual(["z", true, true]);
  expect(disk.reads).toBe(2);
});

test("a container that is started again is at first sight, and what was kept of the last one is freed", async () => {
  const { memory, frame } = scene();
  for (let index = 0; index < 100; index++) {
    const workload = fakeWorkload({ containers: [fakeContainer({ id: `id-${index}` })] });
    expect(await frame(workload)).toEqual(["a,b", null, true]);
    expect(await frame(workload)).toEqual(["", false, false]);
  }
  expect(memory.size).toBe(1);
});

test("a call that fails half-way changes nothing: the digest stands, with its age", async () => {
  const { disk, crawl, frame } = scene();
  await frame();
  disk.version++;
  disk.packages = ["a"];
  disk.fails = new TrawlerError("TRAWLER_GONE", "the container has ended");
  const { features, problems, digests } = await crawl();
  expect(features).toEqual([]);
  expect(problems).toMatchObject([{ crawler: "package", code: "gone" }]);
  expect(digests?.["package"]).toMatchObject({
    changed: false,
    included: false,
    observedAt: "2026-01-01T00:00:00.000Z",
  });
  disk.fails = null;
  expect(await frame()).toEqual(["a", true, true]);
});

test("at first sight a call that fails half-way gives what it had, without a digest", async () => {
  const { disk, crawl } = scene();
  disk.fails = new Error("broken");
  const { features, digests } = await crawl();
  expect([features.length, digests]).toEqual([2, undefined]);
});

test("what is denied or cut off in the same way each time is a whole value", async () => {
  const { disk, frame } = scene({ asks: false });
  disk.fails = new TrawlerError("TRAWLER_LIMIT", "more than 2 files");
  expect(await frame()).toEqual(["a,b", null, true]);
  expect(await frame()).toEqual(["", false, false]);
});

test("that nothing is left is news where there was something, and else not a word", async () => {
  const { disk, crawl, frame } = scene();
  disk.packages = [];
  expect(await crawl()).toEqual({ features: [], problems: [] });
  expect(await frame()).toEqual(["", undefined, undefined]);
  expect(disk.reads).toBe(1);
  disk.packages = ["a"];
  disk.version++;
  expect(await frame()).toEqual(["a", true, true]);
  disk.packages = [];
  disk.version++;
  expect((await crawl()).digests?.["package"]).toMatchObject({ types: ["fact"], changed: true, included: true });
  expect(await frame()).toEqual(["", false, false]);
});
