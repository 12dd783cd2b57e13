import { describe, expect, test } from "vitest";
import { parseWatchEvent } from "../src/reflector/event.ts";
import { lineSplitter } from "../src/reflector/lines.ts";
import { compareVersions } from "../src/reflector/version.ts";

describe("lines of a watch", () => {
  const line = JSON.stringify({
    type: "ADDED",
    object: { metadata: { uid: "1", annotations: { city: "Łódź 東京 🚚" } } },
  });
  const bytes = Buffer.from(`${line}\n`);

  test("C19: a line split after any byte reads the same", () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      const splitter = lineSplitter(1024);
      expect([...splitter.push(bytes.subarray(0, at)), ...splitter.push(bytes.subarray(at))]).toEqual([line]);
    }
  });

  test("C19: one byte at a time reads the same", () => {
    const splitter = lineSplitter(1024);
    const lines = [...bytes].flatMap((byte) => splitter.push(Uint8Array.of(byte)));
    expect(lines).toEqual([line]);
  });

  test("several lines and blank ones in one piece", () => {
    expect(lineSplitter(10).push(Buffer.from("a\n\r\n\nb\nc"))).toEqual(["a", "b"]);
  });

  test("a line over the bound is skipped, and the next one reads", () => {
    const splitter = lineSplitter(10);
    expect(splitter.push(Buffer.from("x".repeat(8)))).toEqual([]);
    expect(splitter.push(Buffer.from("x".repeat(8)))).toEqual([]);
    expect(splitter.push(Buffer.from("x".repeat(1000)))).toEqual([]);
    expect(splitter.push(Buffer.from("xx\nok\n"))).toEqual([null, "ok"]);
  });
});

describe("events of a watch", () => {
  test("C10: a bookmark has a version and nothing else that is needed", () => {
    const object = {
      kind: "Pod",
      apiVersion: "v1",
      metadata: { resourceVersion: "905", creationTimestamp: null },
      spec: { containers: null },
      status: {},
    };
    const event = parseWatchEvent(JSON.stringify({ type: "BOOKMARK", object }));
    expect(event).toEqual({ type: "BOOKMARK", resourceVersion: "905", initialEnd: false });
  });

  test.each([
    "",
    "{",
    "null",
    "[]",
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":{"metadata":{}}}',
    '{"type":"ADDED","object":{"metadata":{"uid":7}}}',
    '{"type":"SHRUNK","object":{"metadata":{"uid":"1"}}}',
    '{"type":"BOOKMARK","object":{}}',
  ])("no event: %s", (text) => {
    expect(parseWatchEvent(text)).toBeNull();
  });
});

describe("F9: resource versions", () => {
  test.each([
    ["9", "10", -1],
    ["10", "9", 1],
    ["9007199254740993", "9007199254740992", 1],
    ["340282366920938463463374607431768211455", "340282366920938463463374607431768211454", 1],
    ["7", "7", 0],
    ["07", "7", null],
    ["a", "7", null],
    [null, "7", null],
  ])("%s against %s is %s", (a, b, expected) => {
    expect(compareVersions(a, b)).toBe(expected);
  });
});
