import type { Mode, RandomInteger } from "./types.ts";

/** A piece of an expression: characters as they stand, or draws from a set. */
export type Piece = { readonly text: string } | { readonly set: string; readonly count: number };

const LOWER = span("a", "z");
const UPPER = span("A", "Z");
const DIGITS = span("0", "9");
const LETTERS = LOWER + UPPER;
/** All of ASCII that prints and is neither letter, digit nor blank. */
const PUNCTUATION = [...span("!", "~")].filter((char) => !/[a-zA-Z0-9]/.test(char)).join("");

const COMPAT_BLOCK = /\[([a-zA-Z0-9\-\\]+)\]\{([0-9]+)\}/g;
const STRICT_BLOCK = /\[([^\]]+)\]\{([0-9]+)\}/g;
const COMPAT_RANGES = /^(?:[a-zA-Z0-9]-[a-zA-Z0-9])+$/;
const MAX_LENGTH = 10_000;

/** What is wrong with an expression, with how to mend it; null where nothing is. */
export function checkExpression(from: string, mode: Mode): string | null {
  try {
    parseExpression(from, mode);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "malformed";
  }
}

/** Draws a text. Each character is drawn by itself, uniformly from its set. */
export function generate(pieces: readonly Piece[], random: RandomInteger): string {
  const draw = (set: string, count: number): string =>
    Array.from({ length: count }, () => set.charAt(random(set.length))).join("");
  return pieces.map((piece) => ("text" in piece ? piece.text : draw(piece.set, piece.count))).join("");
}

/**
 * Literal text with blocks `[set]{n}`.
 * @throws Error with a message that says how to mend the expression.
 */
export function parseExpression(from: string, mode: Mode): readonly Piece[] {
  if (from.length > MAX_LENGTH)
    throw new Error(`an expression of more than ${MAX_LENGTH} characters; write a shorter one`);
  const pieces: Piece[] = [];
  let end = 0;
  const literal = (text: string): void => {
    if (text === "") return;
    if (mode === "strict" && /[[\]]/.test(text))
      throw new Error("a bracket outside of a block; a block is [set]{n}, such as [a-z0-9]{8}");
    pieces.push({ text });
  };
  for (const match of from.matchAll(mode === "strict" ? STRICT_BLOCK : COMPAT_BLOCK)) {
    const [block, content = "", count = ""] = match;
    literal(from.slice(end, match.index));
    end = match.index + block.length;
    pieces.push({ set: mode === "strict" ? strictSet(content) : compatSet(content), count: length(count) });
  }
  literal(from.slice(end));
  return pieces;
}

function length(text: string): number {
  const count = Number(text);
  if (count >= 1 && count <= 255) return count;
  throw new Error(`a length of ${text.slice(0, 10)}; it takes 1 to 255`);
}

/** Ranges lack their last character, as in the reference; where nothing is left, the reference crashes. */
function compatSet(content: string): string {
  const shorthand = CLASSES.get(content);
  if (shorthand !== undefined) return shorthand;
  if (!COMPAT_RANGES.test(content))
    throw new Error(`a malformed set [${content.slice(0, 50)}]; write ranges such as [a-z0-9], or \\w, \\d, \\a, \\A`);
  const chars = (content.match(/.-./g) ?? []).map((range) => rangeOf(range).slice(0, -1)).join("");
  if (chars === "")
    throw new Error(`an empty set [${content.slice(0, 50)}]; in compat mode a range lacks its last character`);
  return unique(chars);
}

/** Ranges with both ends, classes and single characters, in any mix. */
function strictSet(content: string): string {
  if (content.startsWith("^")) throw new Error("a set that starts with ^; name the characters that are wanted");
  const chars = (content.match(/\\.|[a-zA-Z0-9]-[a-zA-Z0-9]|./gsu) ?? []).map((item) => {
    const shorthand = STRICT_CLASSES.get(item);
    if (shorthand !== undefined) return shorthand;
    if (item.length === 3) return rangeOf(item);
    if (item.length === 1 && /[!-~]/.test(item) && item !== "\\" && item !== "[") return item;
    throw new Error(
      `a malformed set [${content.slice(0, 50)}]; write ranges such as [a-z0-9], characters, or \\w, \\d, \\a, \\A`,
    );
  });
  return unique(chars.join(""));
}

const CLASSES: ReadonlyMap<string, string> = new Map([
  ["\\w", `${LETTERS}${DIGITS}_`],
  ["\\d", DIGITS],
  ["\\a", LETTERS + DIGITS],
  ["\\A", PUNCTUATION],
]);
/** `\a` is letters only, as documented; the reference's code adds digits. */
const STRICT_CLASSES: ReadonlyMap<string, string> = new Map([...CLASSES, ["\\a", LETTERS]]);

/** `a-z`, `A-Z`, `0-9` and parts of them; letters are ordered from a to z, then A to Z. */
function rangeOf(range: string): string {
  const [first = "", , last = ""] = range;
  const all = /\d/.test(first) ? DIGITS : LETTERS;
  const [from, to] = [all.indexOf(first), all.indexOf(last)];
  if (to < from) throw new Error(`an invalid range ${range}; write it from low to high, letters and digits apart`);
  return all.slice(from, to + 1);
}

function span(first: string, last: string): string {
  const from = first.charCodeAt(0);
  return String.fromCharCode(...Array.from({ length: last.charCodeAt(0) - from + 1 }, (_, index) => from + index));
}

function unique(chars: string): string {
  return [...new Set(chars)].join("");
}
