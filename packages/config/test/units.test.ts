import { describe, expect, test } from "vitest";
import { duration, parseDuration, parseSize, size } from "../src/index.ts";

describe("durations", () => {
  test.each([
    ["250ms", 250],
    ["10s", 10_000],
    ["1.5s", 1500],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["10", null],
    ["-1s", null],
    ["1 s", null],
    ["1e3s", null],
    ["", null],
  ])("%s", (text, expected) => expect(parseDuration(text)).toBe(expected));

  test("the schema holds to its bounds", () => {
    expect(duration("1s", "1m").safeParse("500ms").success).toBe(false);
    expect(duration("1s", "1m").safeParse("2m").success).toBe(false);
    expect(duration("1s", "1m").safeParse("30s").success).toBe(true);
  });
});

describe("sizes", () => {
  test.each([
    ["512B", 512],
    ["64KiB", 65_536],
    ["10MiB", 10_485_760],
    ["1GiB", 1_073_741_824],
    ["10MB", null],
    ["1.5MiB", null],
    ["999999999999999GiB", null],
  ])("%s", (text, expected) => expect(parseSize(text)).toBe(expected));

  test("the schema holds to its bounds", () => {
    expect(size("1KiB", "1MiB").safeParse("1B").success).toBe(false);
    expect(size("1KiB", "1MiB").safeParse("64KiB").success).toBe(true);
  });
});
