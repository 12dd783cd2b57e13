import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { expect, test } from "vitest";
import { openHostCgroup } from "../../src/cgroup/host.ts";
import { ProcFileReader } from "../../src/proc/files.ts";
import { parseProcessors } from "../../src/proc/processors.ts";

const STAT = `cpu  1000 20 300 4000 50 6 7 8 0 0
cpu0 600 10 200 2000 30 4 3 8 90 0
cpu2 400 10 100 2000 20 2 4 0 0 0
intr 1 2 3
btime 1700000000
`;

test("parity 082: seconds of each processor by what it did; one that is offline is left out", () => {
  expect(parseProcessors(STAT)).toEqual([
    { number: 0, user: 6, nice: 0.1, system: 2, idle: 20, ioWait: 0.3, interrupt: 0.07, steal: 0.08 },
    { number: 2, user: 4, nice: 0.1, system: 1, idle: 20, ioWait: 0.2, interrupt: 0.06, steal: 0 },
  ]);
});

test("parity 082: what an old kernel does not count, and garbage, is not known", () => {
  expect(parseProcessors("cpu0 600 10 200 2000\n")).toMatchObject([
    { idle: 20, ioWait: null, interrupt: null, steal: null },
  ]);
  expect(parseProcessors("cpu0 x -1 1e3\ncpuX 1\n")).toMatchObject([
    { number: 0, user: null, nice: null, system: null },
  ]);
  expect(parseProcessors("")).toEqual([]);
});

test("parity B2: as many processors as this machine has", async () => {
  const clock = { now: () => 0, monotonic: () => 0 };
  const found = await openHostCgroup(new ProcFileReader("/proc"), clock).processors();
  expect(found).toHaveLength(cpus().length);
  expect(found.length).toBe(readFileSync("/proc/stat", "utf8").match(/^cpu\d/gm)?.length);
});
