import { expect, test } from "vitest";
import { openStoreReader } from "../src/index.ts";
import { expectNothingLost, killAndFinish } from "./crash.ts";
import { folder } from "./harness.ts";

test("B29, Failure 14: killed at random moments, every event counts once: no record lost, none doubled", {
  timeout: 120_000,
}, async () => {
  using place = folder();
  const run = await killAndFinish(place.path, 6, null);
  using reader = openStoreReader(place.file("store.db"));
  await expectNothingLost(reader, run);
  expect(reader.gaps()).toEqual([]);
});
