import type { CpuFigures, ProcessorFigures } from "@trawler/plugin-api";
import { crawlAlone, fakeCgroup } from "@trawler/testkit";
import { expect, test } from "vitest";
import cpu from "../src/index.ts";

const quiet: CpuFigures = {
  monotonic: 0,
  time: 0,
  user: 0,
  system: 0,
  periods: null,
  throttledPeriods: null,
  throttledTime: null,
  limit: 1,
};
const unused: ProcessorFigures = {
  number: 0,
  user: 0,
  nice: 0,
  system: 0,
  idle: 0,
  ioWait: 0,
  interrupt: 0,
  steal: 0,
};

async function crawl(
  answers: Parameters<typeof fakeCgroup>[0],
  { state = new Map<string, number>(), processors = true } = {},
) {
  const access = { cgroup: fakeCgroup({ cpu: quiet, ...answers }) };
  const { features, problems } = await crawlAlone(cpu, { access, config: { processors }, context: { state } });
  const values = features.map(({ key, value }): [string, Record<string, unknown>] => [key, Object(value)]);
  return { values: new Map(values), problems };
}

test("parity P15: a processor that was idle a tenth of the time is used at 90 %, waiting and stolen time included", async () => {
  const state = new Map<string, number>();
  const first = await crawl({ processors: [unused] }, { state });
  expect(first.values.get("cpu-0")).toMatchObject({ "cpu.usage": null, "cpu.utilization": null });
  const later = { number: 0, user: 20, nice: 5, system: 25, idle: 10, ioWait: 15, interrupt: 15, steal: 10 };
  const { values } = await crawl({ processors: [later] }, { state });
  expect(values.get("cpu-0")).toEqual({
    "cpu.logical_number": 0,
    "cpu.time.user": 20,
    "cpu.time.nice": 5,
    "cpu.time.system": 25,
    "cpu.time.idle": 10,
    "cpu.time.iowait": 15,
    "cpu.time.interrupt": 15,
    "cpu.time.steal": 10,
    "cpu.usage": 0.65,
    "cpu.utilization": 0.9,
  });
});

test("parity P16: a container's figures hold none of the host's", async () => {
  const state = new Map<string, number>();
  const container = { processors: { error: "TRAWLER_UNSUPPORTED" } } as const;
  await crawl({ ...container, cpu: { ...quiet, time: 0.01, monotonic: 5 } }, { state });
  const second = { ...quiet, time: 0.02, user: 0.01, system: 0.01, monotonic: 5.1 };
  const { values, problems } = await crawl({ ...container, cpu: second }, { state });
  expect([...values.keys()]).toEqual(["cpu"]);
  expect(values.get("cpu")).toMatchObject({ "cpu.time.user": 0.01, "cpu.time.system": 0.01 });
  expect(values.get("cpu")?.["cpu.usage"]).toBeCloseTo(0.1, 9);
  expect(Object.keys(values.get("cpu") ?? {}).filter((name) => /nice|wait|interrupt|steal|idle/.test(name))).toEqual(
    [],
  );
  expect(problems).toEqual([]);
});

test("parity 082: processors are read only where asked for, and their number is bounded", async () => {
  const many = Array.from({ length: 1025 }, (_, number) => ({ ...unused, number }));
  expect((await crawl({ processors: many }, { processors: false })).values.size).toBe(1);
  const { values, problems } = await crawl({ processors: many });
  expect(values.size).toBe(1 + 1024);
  expect(problems).toEqual(["truncated 1024 of 1025 processors"]);
});

test("parity 082: no rate where a counter went back", async () => {
  const state = new Map<string, number>();
  await crawl({ processors: [{ ...unused, user: 10, idle: 10 }] }, { state });
  const { values } = await crawl({ processors: [{ ...unused, user: 11, idle: 9.5 }] }, { state });
  expect(values.get("cpu-0")).toMatchObject({ "cpu.usage": 1, "cpu.utilization": null });
});
