import { DURATION, parseDuration, parseSize, SIZE } from "@trawler/plugin-api";
import * as z from "zod";

export { parseDuration, parseSize };

/** Schema of a duration of at least `minimum` and at most `maximum`: a text, so that the file says the unit. */
export function duration(minimum = "1ms", maximum = "24h"): z.ZodString {
  const range = `a duration from ${minimum} to ${maximum}${examples(["250ms", "10s", "5m"], parseDuration, minimum, maximum)}`;
  return z
    .string()
    .regex(DURATION, range)
    .refine((text) => within(parseDuration, text, minimum, maximum), range)
    .meta({ examples: ["10s"] });
}

/** Schema of a size between two bounds, such as `64KiB`. */
export function size(minimum = "1B", maximum = "1024GiB"): z.ZodString {
  const range = `a size from ${minimum} to ${maximum}${examples(["64KiB", "10MiB"], parseSize, minimum, maximum)}`;
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

/** `, such as 10s or 5m`: those that lie between the bounds. */
function examples(
  texts: readonly string[],
  parse: (text: string) => number | null,
  minimum: string,
  maximum: string,
): string {
  const right = texts.filter((text) => within(parse, text, minimum, maximum));
  return right.length === 0 ? "" : `, such as ${right.join(", ").replace(/, ([^,]*)$/, " or $1")}`;
}
