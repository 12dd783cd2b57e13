import { expect, test } from "vitest";
import { glob } from "../src/glob.ts";

test.each([
  ["redis", "redis", true],
  ["*redis*", "bitnami/redis-cluster", true],
  ["redis-?", "redis-1", true],
  ["redis-?", "redis-", false],
  ["?", "", false],
  ["*", "", true],
  ["", "x", false],
  ["", "", true],
  ["a*c", "abbb", false],
  ["a*b*c", "aXbYbZc", true],
  ["a.c", "abc", false],
  ["**b", "aab", true],
  ["*.[a-z]", "x.[a-z]", true],
])("%s against %j: %s", (pattern, text, expected) => {
  expect(glob(pattern, text)).toBe(expected);
});

test("a pattern that would keep a backtracking matcher for ever ends", () => {
  expect(glob(`${"*a".repeat(200)}b`, "a".repeat(20_000))).toBe(false);
});
