import * as z from "zod";

const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/;
const SIZE = /^(\d{1,15})(B|KiB|MiB|GiB)$/;
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

/** Milliseconds of `250ms`, `10s`, `5m` or `1h`; null where the text is no duration. */
export function parseDuration(text: string): number | null {
  return parse(DURATION, MILLISECONDS, text);
}

/** Bytes of `512B`, `64KiB`, `10MiB` or `1GiB`; null where the text is no size. */
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

/** Schema of a duration of at least `minimum` and at most `maximum`: a text, so that the file says the unit. */
export function duration(minimum = "1ms", maximum = "24h"): z.ZodString {
  const range = `a duration from ${minimum} to ${maximum}, such as 250ms, 10s or 5m`;
  return z
    .string()
    .regex(DURATION, range)
    .refine((text) => within(parseDuration, text, minimum, maximum), range)
    .meta({ examples: ["10s"] });
}

/** Schema of a size between two bounds, such as `64KiB`. */
export function size(minimum = "1B", maximum = "1024GiB"): z.ZodString {
  const range = `a size from ${minimum} to ${maximum}, such as 64KiB or 10MiB`;
  return z
    .string()
    .regex(SIZE, range)
    .refine((text) => within(parseSize, text, minimum, maximum), range)
    .meta({ examples: ["10MiB"] });
}

function within(parser: (text: string) => number | null, text: string, minimum: string, maximum: string): boolean {
  const value = parser(text);
  // What is no duration at all is the pattern's fault to report, once.
  if (value === null) return true;
  return value >= (parser(minimum) ?? 0) && value <= (parser(maximum) ?? Number.POSITIVE_INFINITY);
}
