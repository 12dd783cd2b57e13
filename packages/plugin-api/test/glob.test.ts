import { expect, test } from "vitest";
import { glob, pathMatcher } from "../src/glob.ts";

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

test.each([
  ["/proc", "/proc", true],
  ["/proc", "/proc/1", false],
  ["/etc/*.conf", "/etc/a.conf", true],
  ["/etc/*.conf", "/etc/a/b.conf", false],
  ["/etc/**", "/etc", true],
  ["/etc/**", "/etc/a/b", true],
  ["/**/*.pyc", "/a.pyc", true],
  ["/**/*.pyc", "/usr/lib/a.pyc", true],
  ["/**/lib/**/x", "/usr/lib/a/lib/b/x", true],
  ["/**/lib/**/x", "/usr/lib/a/lib/b/y", false],
  ["/a**b", "/a/b", false],
  ["/a?", "/a/", false],
])("the path pattern %s against %s: %s", (pattern, path, expected) => {
  expect(pathMatcher([pattern])(path)).toBe(expected);
  expect(pathMatcher(["/no", "/no/*", pattern])(path)).toBe(expected);
});

test("path patterns that would keep a backtracking matcher for ever end", () => {
  const matches = pathMatcher([`/${"**/a/".repeat(200)}b`, `/${"*a".repeat(100)}b`]);
  expect(matches(`/${"a/".repeat(1000)}`)).toBe(false);
  expect(matches(`/${"a".repeat(4000)}`)).toBe(false);
});
