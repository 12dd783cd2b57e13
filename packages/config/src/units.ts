import { DURATION, parseDuration, parseSize, SIZE } from "@trawler/plugin-api";
import * as z from "zod";

export { parseDuration, parseSize };

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
