import { crawlAlone, fakeProc } from "@trawler/testkit";
import { expect, test } from "vitest";
import load from "../src/index.ts";

const nothing = { average1: null, average5: null, average15: null, running: null, uninterruptible: null, total: null };

test("parity P20: the averages of 1, 5 and 15 minutes are each their own", async () => {
  const proc = fakeProc({ load: { ...nothing, average1: 1, average5: 2, average15: 3 } });
  const { features } = await crawlAlone(load, { access: { proc } });
  expect(features[0]?.value).toMatchObject({
    "cpu.load_average.1m": 1,
    "cpu.load_average.5m": 2,
    "cpu.load_average.15m": 3,
  });
});

test("where nothing is known there is no feature", async () => {
  expect((await crawlAlone(load, { access: { proc: fakeProc({ load: nothing }) } })).features).toEqual([]);
});
