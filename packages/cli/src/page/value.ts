/** One field of a feature: text, number in base units, flag, short list; null = not measured. */
export type FieldValue = string | number | bigint | boolean | null | readonly string[];

/** Longest text of one value; what is cut ends with an ellipsis. */
const MAX_TEXT = 2_000;
const MAX_ITEMS = 3;

// Control, bidirectional and line separator characters: a hostile name must not steer the terminal.
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** The text with what could steer a terminal written as `\uXXXX`. */
export function printable(text: string): string {
  const cut = text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
  return cut.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A value for people, by its UCUM unit (`By`, `s`, `1`, `{packet}`); null is a dash, as it was not measured. */
export function showValue(value: FieldValue, unit: string | null): string {
  if (value === null) return "-";
  if (typeof value === "string") return printable(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "bigint") return withUnit(value.toString(), unit);
  if (typeof value === "number") return showNumber(value, unit);
  if (value.length === 0) return "none";
  const shown = value.slice(0, MAX_ITEMS).map(printable).join(", ");
  return value.length <= MAX_ITEMS ? shown : `${shown}, … ${value.length - MAX_ITEMS} more`;
}

function showNumber(value: number, unit: string | null): string {
  if (unit === "By" || unit === "By/s") return `${bytes(value)}${unit === "By/s" ? "/s" : ""}`;
  return withUnit(plain(value), unit);
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

function bytes(value: number): string {
  const size = Math.abs(value);
  const power = size < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(size) / 10));
  return `${(value / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

/** Whole numbers whole, others with four digits that count. */
const plain = (value: number): string =>
  Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));

/** A ratio (`1`) has no unit; `{packet}` is what is counted, which the field's name says. */
function withUnit(number: string, unit: string | null): string {
  if (unit === null || unit === "1") return number;
  if (unit === "{cpu}") return `${number} CPUs`;
  const rate = /^\{.*\}(\/s)$/.exec(unit);
  if (rate !== null) return `${number}${rate[1]}`;
  return unit.startsWith("{") ? number : `${number} ${unit}`;
}
