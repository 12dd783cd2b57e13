import { expect, test } from "vitest";
import { partProblem, TrawlerError } from "../src/index.ts";

test("a failure of one part has a word, one of the whole is thrown on", () => {
  expect(partProblem(new TrawlerError("TRAWLER_REFUSED", "a device"))).toBe("denied");
  expect(partProblem(new TrawlerError("TRAWLER_LIMIT", "too large"))).toBe("truncated");
  expect(partProblem(new TrawlerError("TRAWLER_UNSUPPORTED", "absent"))).toBe("failed");
  for (const error of [new TrawlerError("TRAWLER_GONE", "ended"), new TypeError("a mistake"), "text"]) {
    expect(() => partProblem(error)).toThrow();
  }
});
