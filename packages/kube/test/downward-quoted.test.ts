import { describe, expect, it } from "vitest";
import { parseQuotedMap, unquote } from "../src/downward/quoted.ts";

describe("Go-quoted text", () => {
  it.each([
    ['"caf\\u00e9 \\"x\\" line\\\\n"', 'café "x" line\\n'],
    ['"a\\nb"', "a\nb"],
    ['""', ""],
    ['"\\t\\r\\v\\f\\a\\b\\\\"', "\t\r\v\f\u0007\b\\"],
    ['"\\U0001f69a"', "🚚"],
    ['"Łódź 東京"', "Łódź 東京"],
    ['"\\xc3\\xa9"', "é"],
    ['"\\303\\251"', "é"],
    ['"\\xff"', "\uFFFD"],
    ['"\\ud800"', "\uFFFD"],
    ['"\\U00110000"', "\uFFFD"],
  ])("%s is decoded", (quoted, text) => {
    expect(unquote(quoted)).toBe(text);
  });

  it.each(["", '"', "plain", '"open', 'closed"', '"a"b"', '"\\q"', '"\\x1"', '"\\u12"', "'a'", '"line\nbreak"'])(
    "%s is malformed",
    (quoted) => {
      expect(unquote(quoted)).toBeNull();
    },
  );
});

describe("a downward API file", () => {
  it("C36: is decoded line by line; malformed lines are skipped and counted", () => {
    const text = 'note="caf\\u00e9 \\"x\\" line\\\\n"\nmulti="a\\nb"\nempty=""\nbare\n="x"\nopen="x\n';
    const { values, malformed } = parseQuotedMap(text);
    expect({ ...values }).toEqual({ note: 'café "x" line\\n', multi: "a\nb", empty: "" });
    expect(malformed).toBe(3);
  });

  it("C45: keeps a key that names the prototype as data", () => {
    const { values } = parseQuotedMap('__proto__="x"\nconstructor="y"');
    expect(Object.keys(values)).toEqual(["__proto__", "constructor"]);
  });

  it("takes a value with an equals sign", () => {
    expect(parseQuotedMap('a="b=c"').values["a"]).toBe("b=c");
  });
});
