import { describe, expect, test } from "vitest";
import { duration, size } from "../src/index.ts";

describe("durations", () => {
  test("the schema holds to its bounds", () => {
    expect(duration("1s", "1m").safeParse("500ms").success).toBe(false);
    expect(duration("1s", "1m").safeParse("2m").success).toBe(false);
    expect(duration("1s", "1m").safeParse("30s").success).toBe(true);
  });
});

describe("sizes", () => {
  test("the schema holds to its bounds", () => {
    expect(size("1KiB", "1MiB").safeParse("1B").success).toBe(false);
    expect(size("1KiB", "1MiB").safeParse("64KiB").success).toBe(true);
  });
});
