import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { checkExpression, generate, parseExpression } from "../src/template/expression.ts";
import type { Mode } from "../src/template/types.ts";

const draws = (from: string, mode: Mode): readonly string[] => {
  const pieces = parseExpression(from, mode);
  return Array.from({ length: 1_000 }, () => generate(pieces, (bound) => randomInt(bound)));
};

const alphabet = (texts: readonly string[]): string => [...new Set(texts.join(""))].toSorted().join("");

test.each([
  ["[A-Z0-9]{8}", /^[A-Z0-9]{8}$/, /^[A-Y0-8]{8}$/],
  ["[a-zA-Z0-9]{12}", /^[a-zA-Z0-9]{12}$/, /^[a-yA-Y0-8]{12}$/],
  ["[a-zA-Z0-9]{8}-[0-9]{4}", /^[a-zA-Z0-9]{8}-[0-9]{4}$/, /^[a-yA-Y0-8]{8}-[0-8]{4}$/],
  ["[0-1]{8}", /^[01]{8}$/, /^0{8}$/],
  ["[A-F0-9]{4}", /^[A-F0-9]{4}$/, /^[A-E0-8]{4}$/],
  ["[\\w]{8}", /^\w{8}$/, /^\w{8}$/],
  ["[\\d]{5}", /^\d{5}$/, /^\d{5}$/],
  ["[\\a]{5}", /^[a-zA-Z]{5}$/, /^[a-zA-Z0-9]{5}$/],
  ["[\\A]{5}", /^[!-/:-@[-`{-~]{5}$/, /^[!-/:-@[-`{-~]{5}$/],
  ["pre[0-9]{1}post", /^pre\dpost$/, /^pre[0-8]post$/],
  ["[a-Z]{30}", /^[a-zA-Z]{30}$/, /^[a-zA-Y]{30}$/],
  ["\\[A-Z]{3}", /^\\[A-Z]{3}$/, /^\\[A-Y]{3}$/],
  ["a{3}", /^a\{3\}$/, /^a\{3\}$/],
  ["plain", /^plain$/, /^plain$/],
  ["", /^$/, /^$/],
])("C144: 1,000 draws of %s stay in their set", (from, strict, compat) => {
  for (const text of draws(from, "strict")) expect(text).toMatch(strict);
  for (const text of draws(from, "compat")) expect(text).toMatch(compat);
});

test("C144: every character of a set is drawn, both ends in strict mode", () => {
  expect(alphabet(draws("[A-C0-2]{8}", "strict"))).toBe("012ABC");
  expect(alphabet(draws("[A-C0-2]{8}", "compat"))).toBe("01AB");
  expect(alphabet(draws("[\\A]{40}", "strict"))).toHaveLength(32);
  expect(alphabet(draws("[\\w]{40}", "compat"))).toHaveLength(63);
});

test.each(["[A-Z]", "x[A-Z]+", "[A-Z]{3,5}", "[^A-Z]{3}"])(
  "%s is literal in compat mode and an error in strict mode",
  (from) => {
    expect(generate(parseExpression(from, "compat"), () => 0)).toBe(from);
    expect(checkExpression(from, "strict")).not.toBeNull();
  },
);

test.each([
  "[A-z]{3}",
  "[0-Z]{3}",
  "[Z-A]{3}",
  "[z-a]{3}",
  "[A-Z]{0}",
  "[a-z]{0}",
  "[A-Z]{256}",
  "[A-Z]{300}",
  "[a-]{2}",
])("C144: %s is an error in compat mode", (from) => expect(checkExpression(from, "compat")).not.toBeNull());

test.each([
  "[A-z]{3}",
  "[0-Z]{3}",
  "[Z-A]{3}",
  "[z-a]{3}",
  "[a-z]{0}",
  "[A-Z]{256}",
  "[0-9]",
  "[\\q]{2}",
  "[\\]{2}",
  "[]{2}",
])("C144: %s is an error in strict mode", (from) => expect(checkExpression(from, "strict")).not.toBeNull());

test("single characters and mixed sets are an extension of strict mode", () => {
  expect(alphabet(draws("[ABC]{3}", "strict"))).toBe("ABC");
  expect(alphabet(draws("[a-c\\d_]{9}", "strict"))).toBe("0123456789_abc");
  for (const from of ["[ABC]{3}", "[a-z\\d]{4}", "[constructor]{2}"])
    expect(checkExpression(from, "compat")).toMatch(/malformed/);
  expect(generate(parseExpression("[_A-Z]{5}", "compat"), () => 0)).toBe("[_A-Z]{5}");
});

test("a range of one character is itself in strict mode, and an error where the reference crashes", () => {
  expect(generate(parseExpression("[0-0]{2}[a-a]{2}", "strict"), () => 0)).toBe("00aa");
  expect(checkExpression("[0-0]{2}", "compat")).toMatch(/empty/);
});

test("C4: the same draws give the same text", () => {
  const seeded = () => {
    let state = 7;
    return (bound: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state % bound;
    };
  };
  const pieces = parseExpression("[a-z0-9]{20}", "strict");
  expect(generate(pieces, seeded())).toBe(generate(pieces, seeded()));
});
