import { describe, expect, test } from "vitest";
import { parseOsRelease } from "../src/parse.ts";

describe("parseOsRelease", () => {
  test("reads bare, quoted and escaped values", () => {
    const text = `NAME="A \\"B\\" \\$C \\\\"\nID='x y'\nVERSION_ID=7.10\nVERSION_CODENAME=\nPRETTY_NAME=""`;
    expect(parseOsRelease(text)).toEqual({
      id: "x y",
      idLike: null,
      name: 'A "B" $C \\',
      version: "7.10",
      codename: null,
      prettyName: null,
    });
  });

  test("skips comments and lines that are no assignment, takes CRLF, lets the last assignment win", () => {
    expect(parseOsRelease("#ID=no\r\nnonsense\r\nID=one\r\nID=two\r\n__proto__=x\r\n").id).toBe("two");
  });

  test("answers nulls to an empty text and caps a huge value", () => {
    expect(Object.values(parseOsRelease(""))).toEqual([null, null, null, null, null, null]);
    expect(parseOsRelease(`NAME=${"x".repeat(100_000)}`).name).toHaveLength(1024);
  });
});
