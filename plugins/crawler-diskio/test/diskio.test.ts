import type { DiskFigures } from "@trawler/plugin-api";
import { crawlAlone, fakeClock, fakeProc } from "@trawler/testkit";
import { expect, test } from "vitest";
import diskio from "../src/index.ts";

const quiet: DiskFigures = {
  device: "7:0",
  name: "loop",
  partition: false,
  readOperations: 0,
  readMerged: 0,
  readBytes: 0,
  readTime: 0,
  writeOperations: 0,
  writeMerged: 0,
  writtenBytes: 0,
  writeTime: 0,
  pending: 0,
  ioTime: 0,
  weightedIoTime: 0,
};

/** A disk all of whose counters stand at one number. */
function sda(count: number): DiskFigures {
  const counts = Object.fromEntries(
    Object.entries(quiet).map(([name, value]) => [name, typeof value === "number" ? count : value]),
  );
  return { ...quiet, ...counts, device: "8:0", name: "sda1" };
}

const RATES = ["disk.io.read.rate", "disk.io.write.rate", "disk.operations.read.rate", "disk.operations.write.rate"];

test("parity P21: rates are null at first, then per second, and null where a counter went back", async () => {
  const clock = fakeClock();
  const state = new Map<string, number>();
  const rates = async (...disks: readonly DiskFigures[]) => {
    const { features } = await crawlAlone(diskio, { access: { proc: fakeProc({ disks }) }, context: { clock, state } });
    clock.advance(60_000);
    return features.map(({ key, value }) => [key, ...RATES.map((name) => Object(value)[name])]);
  };
  const nothing = [null, null, null, null];
  expect(await rates(quiet, sda(10))).toEqual([
    ["loop", ...nothing],
    ["sda1", ...nothing],
  ]);
  expect(await rates(quiet, sda(110))).toEqual([
    ["loop", 0, 0, 0, 0],
    ["sda1", ...Array(4).fill(100 / 60)],
  ]);
  expect(await rates(sda(10))).toEqual([["sda1", ...nothing]]);
  expect(await rates(quiet, sda(70))).toEqual([
    ["loop", ...nothing],
    ["sda1", 1, 1, 1, 1],
  ]);
});

test("of disks that come and go only those of the last reading are kept", async () => {
  const state = new Map<string, number>();
  for (let index = 0; index < 100; index++) {
    const disks = [{ ...quiet, name: `sd${index}` }];
    await crawlAlone(diskio, { access: { proc: fakeProc({ disks }) }, context: { state } });
  }
  expect(state.size).toBe(6);
});
