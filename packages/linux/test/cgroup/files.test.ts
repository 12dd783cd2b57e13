import { describe, expect, test } from "vitest";
import { parseBlkio, parseIoStat, parsePids } from "../../src/cgroup/block.ts";
import { parseCpuV1, parseCpuV2 } from "../../src/cgroup/cpu.ts";
import { parseMemoryV1, parseMemoryV2 } from "../../src/cgroup/memory.ts";
import { parsePressure } from "../../src/cgroup/pressure.ts";
import { parseLimit } from "../../src/cgroup/values.ts";

const noV2 = { current: null, stat: null, swap: null, peak: null, max: null, events: null, ancestorLimits: [] };
const noV1 = { usage: null, stat: null, peak: null, limit: null, outOfMemory: null, ancestorLimits: [] };
const noCpuV1 = { usage: null, accounting: null, stat: null, quota: null, period: null };

describe("C72: max", () => {
  test("is no limit, and usage stays", () => {
    expect(parseMemoryV2({ ...noV2, current: "4096\n", max: "max\n" })).toMatchObject({
      usage: 4096,
      limit: null,
      effectiveLimit: null,
      swap: null,
    });
    expect(parseCpuV2(null, "max 100000\n", 0).limit).toBeNull();
    expect(parsePids("3\n", "max\n")).toEqual({ current: 3, limit: null });
  });

  test("a limit of a cgroup above counts as effective", () => {
    const memory = parseMemoryV2({
      ...noV2,
      max: "max\n",
      ancestorLimits: ["67108864\n", "max\n", null, "134217728\n"],
    });
    expect(memory).toMatchObject({ limit: null, effectiveLimit: 67108864 });
  });
});

describe("C73: v1's sentinel and garbage", () => {
  test.each(["9223372036854771712\n", "18446744073709551615\n", "-1\n"])("%j is no limit", (text) => {
    expect(parseLimit(text)).toBeNull();
  });

  test.each(["", "12abc\n", "1 2\n", "0x10\n", "1e3\n", " \n", null])("%j is unknown", (text) => {
    expect(parseLimit(text)).toBeNull();
    expect(parseMemoryV1({ ...noV1, usage: text }).usage).toBeNull();
  });

  test("a quota of −1 is no CPU limit", () => {
    expect(parseCpuV1({ ...noCpuV1, quota: "-1\n", period: "100000\n" }, 0).limit).toBeNull();
    expect(parseCpuV1({ ...noCpuV1, quota: "150000\n", period: "100000\n" }, 0).limit).toBe(1.5);
    expect(parseCpuV1({ ...noCpuV1, quota: "150000\n", period: "0\n" }, 0).limit).toBeNull();
  });
});

describe("C75: files that do not exist", () => {
  test("give null for each figure, never 0", () => {
    for (const figures of [parseMemoryV2(noV2), parseMemoryV1(noV1)]) {
      expect(Object.values(figures).every((value) => value === null)).toBe(true);
    }
    const { monotonic, ...cpu } = parseCpuV2(null, null, 5);
    expect(monotonic).toBe(5);
    expect(Object.values(cpu).every((value) => value === null)).toBe(true);
    expect(parsePids(null, null)).toEqual({ current: null, limit: null });
    expect(parseIoStat("")).toEqual([]);
    expect(parseBlkio("", "")).toEqual([]);
  });

  test("cpu.stat without the controller has times alone", () => {
    const cpu = parseCpuV2("usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n", null, 0);
    expect(cpu).toEqual({
      monotonic: 0,
      time: 1.5,
      user: 1,
      system: 0.5,
      periods: null,
      throttledPeriods: null,
      throttledTime: null,
      limit: null,
    });
  });

  test("a device without figures is left out, with and without a line end", () => {
    const device = { device: "8:0", readBytes: 1, writtenBytes: 2, readOperations: 3, writeOperations: 4 };
    const line = "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0 cost.usage=9\n";
    expect(parseIoStat(`7:0 \n7:1\n${line}`)).toEqual([device]);
    expect(parseIoStat(`7:0 7:1 ${line}`)).toEqual([device]);
    expect(parseIoStat("8:16 rbytes=x wbytes=5\n")).toEqual([
      { device: "8:16", readBytes: null, writtenBytes: 5, readOperations: null, writeOperations: null },
    ]);
  });
});

describe("v1", () => {
  test("takes the totals of memory.stat, which hold the children, and never goes below 0", () => {
    const stat = "cache 1\ninactive_file 2\ntotal_cache 10\ntotal_rss 20\ntotal_inactive_file 500\ntotal_swap 3\n";
    const memory = parseMemoryV1({ ...noV1, usage: "400\n", stat, outOfMemory: "oom_kill_disable 0\noom_kill 7\n" });
    expect(memory).toMatchObject({ usage: 400, workingSet: 0, rss: 20, cache: 10, swap: 3, outOfMemoryKills: 7 });
    expect(memory.outOfMemory).toBeNull();
  });

  test("converts nanoseconds and ticks to seconds", () => {
    const files = { usage: "5604674082\n", accounting: "user 193\nsystem 366\n", quota: null, period: null };
    const cpu = parseCpuV1({ ...files, stat: "nr_periods 400\nnr_throttled 91\nthrottled_time 2400708471\n" }, 0);
    expect(cpu).toMatchObject({ time: 5.604674082, user: 1.93, system: 3.66, periods: 400, throttledPeriods: 91 });
    expect(cpu.throttledTime).toBe(2.400708471);
  });

  test("reads and writes of each device", () => {
    const bytes = "8:0 Read 10\n8:0 Write 20\n8:0 Total 30\n253:0 Read 1\nTotal 31\n";
    expect(parseBlkio(bytes, "8:0 Read 2\n8:0 Write 3\n")).toEqual([
      { device: "8:0", readBytes: 10, writtenBytes: 20, readOperations: 2, writeOperations: 3 },
      { device: "253:0", readBytes: 1, writtenBytes: null, readOperations: null, writeOperations: null },
    ]);
  });
});

describe("pressure", () => {
  test("ratios and seconds of both kinds", () => {
    const text =
      "some avg10=1.53 avg60=40.00 avg300=100.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
    expect(parsePressure(text)).toEqual({
      some: { average10: 0.0153, average60: 0.4, average300: 1, total: 1.5 },
      full: { average10: 0, average60: 0, average300: 0, total: 0 },
    });
  });

  test("before Linux 5.13 a whole machine has no `full` for its CPUs", () => {
    expect(parsePressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")?.full).toBeNull();
  });

  test.each([null, ""])("%j is none", (text) => {
    expect(parsePressure(text)).toBeNull();
  });

  test.each(["garbage", "some avg10=x avg60=0.00 avg300=0.00 total=1", "some total=1"])("%j is not known", (text) => {
    expect(parsePressure(text)).toEqual({ some: null, full: null });
  });
});
