/** A duration as settings write it: `250ms`, `1.5s`, `5m`, `1h`. */
export const DURATION: RegExp = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/;
/** A size as settings write it: `512B`, `64KiB`, `10MiB`, `1GiB`. */
export const SIZE: RegExp = /^(\d{1,15})(B|KiB|MiB|GiB)$/;

const MILLISECONDS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
]);
const BYTES: ReadonlyMap<string, number> = new Map([
  ["B", 1],
  ["KiB", 1024],
  ["MiB", 1024 ** 2],
  ["GiB", 1024 ** 3],
]);

/** Milliseconds of a duration; null where the text is none. */
export function parseDuration(text: string): number | null {
  return parse(DURATION, MILLISECONDS, text);
}

/** Bytes of a size; null where the text is none. */
export function parseSize(text: string): number | null {
  return parse(SIZE, BYTES, text);
}

function parse(pattern: RegExp, units: ReadonlyMap<string, number>, text: string): number | null {
  const [, digits, unit] = pattern.exec(text) ?? [];
  const factor = units.get(unit ?? "");
  if (digits === undefined || factor === undefined) return null;
  const value = Math.round(Number(digits) * factor);
  return Number.isSafeInteger(value) ? value : null;
}
