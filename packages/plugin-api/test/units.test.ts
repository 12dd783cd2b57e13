import { expect, test } from "vitest";
import { parseDuration, parseSize } from "../src/units.ts";

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
])("duration %s", (text, expected) => expect(parseDuration(text)).toBe(expected));

test.each([
  ["512B", 512],
  ["64KiB", 65_536],
  ["10MiB", 10_485_760],
  ["1GiB", 1_073_741_824],
  ["10MB", null],
  ["17", null],
  ["1.5MiB", null],
  ["999999999999999GiB", null],
])("size %s", (text, expected) => expect(parseSize(text)).toBe(expected));
