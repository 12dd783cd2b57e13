import { fakeApi } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import { createApiClient } from "../src/api/client.ts";
import { createSkewMeter } from "../src/api/skew.ts";
import { tokenTarget } from "../src/api/target.ts";

const SERVER = Date.parse("2026-12-01T00:00:00Z");
const date = (time: number): string => new Date(Math.floor(time / 1000) * 1000).toUTCString();

describe("B43: the clock's skew by the HTTP Date", () => {
  test("B43: lies within a second and the round trip, and narrows with each answer", () => {
    const meter = createSkewMeter();
    expect(meter.estimate()).toBeNull();
    // Ours is an hour and 300 ms behind.
    const ours = (server: number): number => server - 3_600_300;
    for (let at = 0; at < 20_000; at += 1_037) {
      meter.observe(date(SERVER + at), ours(SERVER + at), ours(SERVER + at) + 20);
      const { milliseconds = 0, uncertainty = 0 } = meter.estimate() ?? {};
      expect(Math.abs(milliseconds - 3_600_300)).toBeLessThanOrEqual(uncertainty);
    }
    expect(meter.estimate()?.uncertainty).toBeLessThan(200);
  });

  test("row 18: a clock that is stepped is measured anew; no date, or one that is none, says nothing", () => {
    const meter = createSkewMeter();
    meter.observe(date(SERVER), SERVER, SERVER + 10);
    meter.observe(undefined, SERVER, SERVER);
    meter.observe("yesterday", SERVER, SERVER);
    meter.observe(date(SERVER + 7_200_000), SERVER + 10, SERVER);
    expect(Math.abs(meter.estimate()?.milliseconds ?? Number.NaN)).toBeLessThanOrEqual(505);
    meter.observe(date(SERVER), SERVER + 3_600_000, SERVER + 3_600_010);
    expect(Math.abs((meter.estimate()?.milliseconds ?? 0) + 3_600_000)).toBeLessThanOrEqual(505);
  });

  test("B43: the client measures it by any answer", async () => {
    await using api = await fakeApi();
    const behind = 5 * 60_000;
    using client = createApiClient({
      target: tokenTarget({ server: api.url }),
      now: () => Date.now() - behind,
    });
    expect(client.clockSkew()).toBeNull();
    await client.get({ what: "list pods", path: "/api/v1/pods" });
    const { milliseconds = 0, uncertainty = 0 } = client.clockSkew() ?? {};
    // Node sends the same Date until a timer of its own fires, late on a busy machine.
    expect(Math.abs(milliseconds - behind)).toBeLessThanOrEqual(uncertainty + 5_000);
  });
});
