import type { StringMap } from "@trawler/plugin-api";

const SIMPLE: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "'": "'",
};
const QUOTED = /^"((?:[^"\\\n]|\\(?:[abfnrtv\\"']|x[0-9a-fA-F]{2}|[0-7]{3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}))*)"$/;
const ESCAPE = /(?:\\(?:x[0-9a-fA-F]{2}|[0-7]{3}))+|\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g;

/** The text that Go's strconv.Quote wrote; null where it is malformed. Bytes that are no UTF-8 become U+FFFD. */
export function unquote(quoted: string): string | null {
  const body = QUOTED.exec(quoted)?.[1];
  return body === undefined ? null : body.replace(ESCAPE, decodeEscape);
}

function decodeEscape(sequence: string, short?: string, long?: string, letter?: string): string {
  const hex = short ?? long;
  if (hex !== undefined) {
    const code = Number.parseInt(hex, 16);
    return code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff) ? "\uFFFD" : String.fromCodePoint(code);
  }
  if (letter !== undefined) return SIMPLE[letter] ?? sequence;
  const bytes = sequence.split("\\").slice(1);
  const values = bytes.map((byte) => (byte[0] === "x" ? Number.parseInt(byte.slice(1), 16) : Number.parseInt(byte, 8)));
  return Buffer.from(values).toString("utf8");
}

/**
 * Parses a downward API file of labels or annotations: one `key="Go-quoted value"` a line. A malformed line is skipped
 * and counted.
 */
export function parseQuotedMap(text: string): { readonly values: StringMap; readonly malformed: number } {
  const values: Record<string, string> = Object.create(null);
  let malformed = 0;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const equals = line.indexOf("=");
    const value = equals > 0 ? unquote(line.slice(equals + 1)) : null;
    if (value === null) malformed += 1;
    else values[line.slice(0, equals)] = value;
  }
  return { values, malformed };
}
