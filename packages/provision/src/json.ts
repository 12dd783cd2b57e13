/** A number that JavaScript cannot hold exactly: the text it was written with. `JSON.stringify` writes that text. */
export interface RawNumber {
  readonly rawJSON: string;
}

/** JSON whose numbers are exact. Maps have a null prototype, so that `__proto__` is a key as any other. */
export type JsonValue = null | boolean | string | number | RawNumber | readonly JsonValue[] | JsonMap;

export interface JsonMap {
  readonly [key: string]: JsonValue;
}

/** JSON under construction. */
export type MutableMap = { [key: string]: JsonValue };

interface RawJson {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
}

// The language's library of types does not know these yet: ECMA-262, "JSON.parse source text access".
const json = JSON as Omit<JSON, "parse"> & RawJson;

export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}

export function isMap(value: JsonValue | undefined): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A map without a prototype. */
export function emptyMap(): MutableMap {
  return Object.create(null);
}

/** The number that `source` (a number in JSON's grammar) means: as a `number` where that loses nothing. */
export function exactNumber(source: string): number | RawNumber {
  const value = Number(source);
  return canonical(source) === canonical(String(value)) ? value : json.rawJSON(source);
}

/**
 * Reads JSON as `JSON.parse` does, with exact numbers and maps without a prototype.
 * @throws SyntaxError without the text in its message, since that may be a secret.
 */
export function parseJson(text: string): JsonValue {
  try {
    return adopt(
      json.parse(text, (_, value, { source }) =>
        typeof value === "number" && source !== undefined ? exactNumber(source) : value,
      ),
    );
  } catch {
    throw new SyntaxError("not JSON");
  }
}

/** Deepest nesting that is accepted. */
export const MAX_DEPTH = 100;

function adopt(value: unknown, depth = 0): JsonValue {
  if (depth > MAX_DEPTH) throw new RangeError("nested too deep");
  if (value === null || typeof value === "boolean" || typeof value === "string" || typeof value === "number")
    return value;
  if (isRawNumber(value)) return value;
  if (Array.isArray(value)) return value.map((item) => adopt(item, depth + 1));
  const map = emptyMap();
  for (const [key, item] of Object.entries(value ?? {})) map[key] = adopt(item, depth + 1);
  return map;
}

/** Sign, significant digits and exponent of a decimal number, so that equal numbers have equal texts. */
function canonical(source: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/.exec(source) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (whole === "" && fraction === "") return source;
  if (significant === "") return `${sign}0`;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
