import { describe, expect, test } from "vitest";
import { usages } from "../src/usage.ts";

describe("usages", () => {
  test("C85: a pid that is used again is a new process without a rate", () => {
    const state = new Map<string, number>();
    usages([{ key: "900:1000", time: 5000 }], 1, state);
    expect(usages([{ key: "900:8000", time: 3 }], 2, state).size).toBe(0);
    expect(usages([{ key: "900:8000", time: 4 }], 4, state)).toEqual(new Map([["900:8000", 0.5]]));
  });

  test("gives no rate when a counter went back or no time has passed", () => {
    const state = new Map<string, number>();
    usages([{ key: "1:1", time: 2 }], 1, state);
    expect(usages([{ key: "1:1", time: 1 }], 2, state).size).toBe(0);
    expect(usages([{ key: "1:1", time: 3 }], 2, state).size).toBe(0);
  });

  test("keeps nothing of processes that have vanished", () => {
    const state = new Map<string, number>();
    for (let pid = 0; pid < 1000; pid++) usages([{ key: `${pid}:1`, time: 1 }], pid, state);
    expect([...state.keys()].sort()).toEqual(["999:1", "monotonic"]);
  });
});
