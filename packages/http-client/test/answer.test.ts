import { judge, parseRetryAfter } from "@trawler/http-client";
import { expect, test } from "vitest";

test.each([
  ["120", 120_000],
  ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
  ["999999999", 300_000],
  ["-5", 0],
  ["soon", null],
  [null, null],
])("Retry-After %s", (text, pause) => {
  expect(parseRetryAfter(text, Date.UTC(2026, 0, 1))).toBe(pause);
});

test("every status is judged", () => {
  const kinds = new Map<string, number>();
  for (let status = 100; status < 600; status += 1) {
    const { kind } = judge(status, null, 0);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  expect(Object.fromEntries(kinds)).toMatchObject({ safe: 100, smaller: 1 });
});
