import { describe, expect, test } from "vitest";
import { usage } from "../src/usage.ts";

describe("usage", () => {
  test("is null on the first reading, then Δ time over Δ monotonic clock", () => {
    const state = new Map<string, number>();
    expect(usage({ time: 10, monotonic: 100 }, state)).toBeNull();
    expect(usage({ time: 11, monotonic: 104 }, state)).toBe(0.25);
    expect(usage({ time: 11, monotonic: 105 }, state)).toBe(0);
  });

  test("is null once when the counter went back, when no time has passed, and after a gap", () => {
    const state = new Map<string, number>();
    usage({ time: 10, monotonic: 100 }, state);
    expect(usage({ time: 1, monotonic: 110 }, state)).toBeNull();
    expect(usage({ time: 2, monotonic: 110 }, state)).toBeNull();
    expect(usage({ time: 3, monotonic: 120 }, state)).toBe(0.1);
    expect(usage({ time: null, monotonic: 130 }, state)).toBeNull();
    expect(state.size).toBe(0);
    expect(usage({ time: 5, monotonic: 140 }, state)).toBeNull();
  });
});
