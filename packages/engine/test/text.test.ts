import { expect, test } from "vitest";
import { repositoryOf } from "../src/match.ts";
import { redactList, redactNamed, redactText } from "../src/redact.ts";
import { clip } from "../src/text.ts";
import { uuid7 } from "../src/uuid.ts";

test.each([
  ["redis", "redis"],
  ["redis:7", "redis"],
  ["library/redis@sha256:00", "library/redis"],
  ["registry.test:5000/a/b:1", "a/b"],
  ["localhost/a:1", "a"],
])("the repository of %s is %s", (image, repository) => {
  expect(repositoryOf(image)).toBe(repository);
});

test.each([
  ["redis://user:pa55@host:6379/0", "redis://[redacted]@host:6379/0"],
  ["https://host/path", "https://host/path"],
  ["--password=hunter2 --port=1", "--password=[redacted] --port=1"],
  ['{"api_key": "abc", "port": 1}', '{"api_key": [redacted], "port": 1}'],
  ["--password=[redacted] 'token': [redacted]", "--password=[redacted] 'token': [redacted]"],
  ["--password=[redacted]x", "--password=[redacted]]x"],
  ["MY_SECRET=x", "MY_SECRET=[redacted]"],
  ["monkey=1", "monkey=1"],
  ["token-service:8080", "token-service:8080"],
])("redacts %s", (text, expected) => {
  expect(redactText(text)).toBe(expected);
});

test("redacts by name, and the argument after a secret's option", () => {
  expect(redactNamed("DB_PASSWORD", "x")).toBe("[redacted]");
  expect(redactNamed("team", "x")).toBe("x");
  expect(redactList(["redis-cli", "--password", "x", "--token", "--verbose", "ping"])).toEqual([
    "redis-cli",
    "--password",
    "[redacted]",
    "--token",
    "--verbose",
    "ping",
  ]);
});

test("redacting a hostile text of 1 MB ends", () => {
  for (const text of ["password=".repeat(110_000), "://a:".repeat(200_000), `--${"a-".repeat(500_000)}`])
    redactText(text);
});

test("a clipped text has at most that many bytes and whole characters", () => {
  for (const text of ["x".repeat(40), "é".repeat(40), "東".repeat(40), "🚚".repeat(40), "\ud83d".repeat(40)]) {
    const cut = clip(text, 32);
    expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(32);
    expect(cut.isWellFormed()).toBe(true);
    expect(cut).not.toContain("\ufffd".repeat(12));
  }
  expect(clip("short", 32)).toBe("short");
  expect(clip("x".repeat(32), 32)).toBe("x".repeat(32));
});

test("a UUID of version 7 begins with the time", () => {
  const id = uuid7(0x0193_0000_0001);
  expect(id).toMatch(/^01930000-0001-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
