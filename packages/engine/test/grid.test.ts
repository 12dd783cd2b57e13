import { fakeClock } from "@trawler/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { phaseOf, runGrid } from "../src/grid.ts";

afterEach(() => vi.useRealTimers());

function gridOf(node: string, every: number) {
  vi.useFakeTimers({ now: 0 });
  let stall = 0;
  const clock = { now: () => Date.now(), monotonic: () => performance.now() / 1000 + stall };
  const slots: number[] = [];
  let skipped = 0;
  const stop = new AbortController();
  const running = runGrid(
    { clock, every, node },
    () => slots.push(clock.monotonic()),
    (count) => {
      skipped += count;
    },
    stop.signal,
  );
  return {
    slots,
    skipped: () => skipped,
    stall: (seconds: number) => {
      stall += seconds;
    },
    async end() {
      stop.abort();
      await running;
    },
  };
}

test("slots are as far apart as planned, shifted by the node's name, and the same after a restart", async () => {
  const first = gridOf("node-a", 10);
  await vi.advanceTimersByTimeAsync(60_000);
  await first.end();
  expect(first.slots).toHaveLength(6);
  for (const slot of first.slots) expect((slot - phaseOf("node-a") * 10) % 10).toBeCloseTo(0, 1);
  expect(phaseOf("node-a")).not.toBe(phaseOf("node-b"));
});

test("C135, parity W6: after a stall missed slots are skipped and counted, never made up for", async () => {
  const grid = gridOf("node-a", 10);
  await vi.advanceTimersByTimeAsync(20_000);
  const before = grid.slots.length;
  grid.stall(40);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(grid.slots.length - before).toBe(1);
  expect(grid.skipped()).toBe(4);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(grid.slots.length - before).toBe(3);
  await grid.end();
});

test("C133: a wall clock that is set back an hour changes nothing in the slots", async () => {
  const grid = gridOf("node-a", 10);
  await vi.advanceTimersByTimeAsync(20_000);
  const before = grid.slots.length;
  vi.setSystemTime(Date.now() - 3_600_000);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(grid.slots.length - before).toBe(3);
  expect(grid.skipped()).toBe(0);
  await grid.end();
});

test("the fake clock stands still until told", () => {
  const clock = fakeClock();
  expect(clock.now()).toBe(clock.now());
});
