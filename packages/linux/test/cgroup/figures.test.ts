import { posix } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { locateContainer, locatePod } from "../../src/cgroup/locate.ts";
import { NodeReader } from "../../src/node/node-reader.ts";
import { CAPTURES, Capture } from "../captured.ts";

const clock = { now: () => 0, monotonic: () => 7 };

describe.each(CAPTURES)("%s", { timeout: 60_000 }, (name) => {
  let capture: Capture;
  let samples: readonly [NodeReader, NodeReader];

  beforeAll(() => {
    capture = new Capture(name);
    const reader = (sample: 1 | 2) =>
      new NodeReader({ root: "/", proc: capture.proc(sample), cgroup: capture.cgroup(sample) }, clock);
    samples = [reader(1), reader(2)];
  }, 60_000);
  afterAll(() => capture[Symbol.dispose]());

  test("parity C11: every container is found by its id alone, where the kubelet put it", () => {
    const [, node] = samples;
    const expected = capture.expected();
    expect(expected.length).toBeGreaterThan(3);
    for (const { id, cgroup } of expected) {
      expect(locateContainer(node.hierarchy, node.files, { containerId: id })).toBe(cgroup);
    }
  });

  test("a hint is taken where it names the container, and never where it names another", () => {
    const [, node] = samples;
    const [first, second] = capture.expected();
    const handle = { containerId: first?.id ?? "", cgroup: first?.cgroup ?? "" };
    expect(locateContainer(node.hierarchy, node.files, handle)).toBe(first?.cgroup);
    expect(locateContainer(node.hierarchy, node.files, { ...handle, cgroup: second?.cgroup ?? "" })).toBe(
      first?.cgroup,
    );
    expect(locateContainer(node.hierarchy, node.files, { ...handle, cgroup: `/../..${first?.cgroup}` })).toBe(
      first?.cgroup,
    );
    expect(locateContainer(node.hierarchy, node.files, { containerId: "0".repeat(64) })).toBeNull();
  });

  test("parity P14: CPU time, memory usage and working set are those of expected.tsv", async () => {
    for (const { cgroup, cpuMicroseconds, usage, workingSet } of capture.expected()) {
      for (const [index, node] of samples.entries()) {
        using reader = node.openCgroup(cgroup);
        const cpu = await reader.cpu();
        expect(Math.floor((cpu.time ?? 0) * 1e6 + 1e-3)).toBe(cpuMicroseconds[index]);
        expect(cpu.monotonic).toBe(7);
        expect((cpu.user ?? 0) + (cpu.system ?? 0)).toBeCloseTo(cpu.time ?? 0, 0);
      }
      using reader = samples[1].openCgroup(cgroup);
      expect(await reader.memory()).toMatchObject({ usage, workingSet });
    }
  });

  test("a pod's cgroup is the parent of its containers', and is found by UID without them", async () => {
    const [, node] = samples;
    for (const { cgroup } of capture.expected()) {
      const path = posix.dirname(cgroup);
      expect(locatePod(node.hierarchy, {}, [cgroup])).toBe(path);
      const podUid = /pod([0-9a-f_-]{32,36})/.exec(path)?.[1]?.replaceAll("_", "-") ?? "";
      expect(locatePod(node.hierarchy, { podUid }, [])).toBe(path);
      using pod = node.openCgroup(path);
      using container = node.openCgroup(cgroup);
      expect((await pod.cpu()).time ?? 0).toBeGreaterThanOrEqual(
        (await container.cpu()).time ?? Number.POSITIVE_INFINITY,
      );
    }
  });

  test("the effective limit is the smallest of the cgroup and those above it", async () => {
    const [, node] = samples;
    for (const { cgroup } of capture.expected()) {
      using reader = node.openCgroup(cgroup);
      const { limit, effectiveLimit } = await reader.memory();
      if (limit !== null) expect(effectiveLimit ?? 0).toBeLessThanOrEqual(limit);
      using pod = node.openCgroup(posix.dirname(cgroup));
      const podLimit = (await pod.memory()).limit;
      if (podLimit !== null) expect(effectiveLimit ?? 0).toBeLessThanOrEqual(podLimit);
    }
  });

  test("figures that a kernel has are numbers; what it lacks is null, never 0", async () => {
    const [, node] = samples;
    const isV1 = name.startsWith("cgroup1");
    for (const { cgroup } of capture.expected()) {
      using reader = node.openCgroup(cgroup);
      const memory = await reader.memory();
      expect(memory.rss).toEqual(expect.any(Number));
      expect(memory.cache).toEqual(expect.any(Number));
      expect(memory.shared).toEqual(expect.any(Number));
      expect(memory.peak).toEqual(expect.any(Number));
      expect(memory.majorFaults).toEqual(expect.any(Number));
      expect(memory.outOfMemoryKills).toEqual(expect.any(Number));
      expect(memory.outOfMemory).toEqual(isV1 ? null : expect.any(Number));
      expect((await reader.pids()).current).toBeGreaterThan(0);
      for (const { device, readBytes } of await reader.block()) {
        expect(device).toMatch(/^\d+:\d+$/);
        expect(readBytes).toEqual(expect.any(Number));
      }
    }
  });

  test("CPU limits are cores, and throttling is counted where a limit is set", async () => {
    const [, node] = samples;
    const redis = capture.expected().find(({ container }) => container === "redis");
    using reader = node.openCgroup(redis?.cgroup ?? "");
    const { limit, periods, throttledTime } = await reader.cpu();
    if (name !== "cgroup1-host") expect(limit).toBe(0.3);
    expect(periods).toEqual(expect.any(Number));
    expect(throttledTime).toEqual(expect.any(Number));
  });
});

describe("out of memory", { timeout: 60_000 }, () => {
  test("the pod keeps the kills of its containers, whose own counters go with them (v2)", async () => {
    using capture = new Capture("cgroup2-cgroupfs");
    const node = new NodeReader({ root: "/", proc: capture.proc(2), cgroup: capture.cgroup(2) }, clock);
    const leak = capture.expected().find(({ container }) => container === "leak");
    using pod = node.openCgroup(posix.dirname(leak?.cgroup ?? ""));
    const { outOfMemory, outOfMemoryKills } = await pod.memory();
    expect(outOfMemory).toBeGreaterThan(0);
    expect(outOfMemoryKills).toBeGreaterThan(0);
  });
});
