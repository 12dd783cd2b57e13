import { expect, test } from "vitest";
import { decodePath, encodePath } from "../../src/index.ts";
import { HOSTILE_NAMES } from "./hostile.ts";

test("C81: every name comes back as the same bytes, and distinct names stay distinct", () => {
  const encoded = HOSTILE_NAMES.map(encodePath);
  expect(encoded.map(decodePath)).toEqual(HOSTILE_NAMES);
  expect(new Set(encoded).size).toBe(HOSTILE_NAMES.length);
  for (const name of encoded) expect(name.isWellFormed()).toBe(true);
});

test("bytes that are no UTF-8 and the backslash are escaped, all else stands as it is", () => {
  expect(encodePath(Buffer.from([0x63, 0x61, 0x66, 0xe9]))).toBe("caf\\xE9");
  expect(encodePath(Buffer.from("caf\\xE9"))).toBe("caf\\x5CxE9");
  expect(encodePath(Buffer.from("new\nline 😀"))).toBe("new\nline 😀");
  expect(encodePath(Buffer.from([0xf0, 0x9f, 0x98, 0x41]))).toBe("\\xF0\\x9F\\x98A");
});

test("a backslash that begins no escape stands for itself", () => {
  expect(decodePath("a\\b\\x4")).toEqual(Buffer.from("a\\b\\x4"));
  expect(decodePath("\\x5cx41")).toEqual(Buffer.from("\\x41"));
});

test("random bytes survive the round trip", () => {
  let seed = 1;
  const next = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed;
  };
  for (let round = 0; round < 2_000; round++) {
    const bytes = Buffer.from(Array.from({ length: next() % 12 }, () => next() % 256));
    expect(decodePath(encodePath(bytes))).toEqual(bytes);
  }
});
