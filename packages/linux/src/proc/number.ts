/** A count written as decimal digits alone; null for anything else, so that garbage never becomes a figure. */
export function parseCount(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,20}$/.test(text)) return null;
  return Number(text);
}

/** A count of the unit `scale` (ticks, kibibytes, microseconds) in base units; null stays null. */
export function scaled(value: number | null, factor: number): number | null {
  return value === null ? null : value * factor;
}

/** As `scaled`, by division: exact to the last digit where a factor such as 1e-9 is not. */
export function divided(value: number | null, divisor: number): number | null {
  return value === null ? null : value / divisor;
}

/** The sum, or null where a part is not known. */
export function sum(...parts: readonly (number | null)[]): number | null {
  let total = 0;
  for (const part of parts) {
    if (part === null) return null;
    total += part;
  }
  return total;
}

/** The difference, not below 0; null where a part is not known. */
export function difference(from: number | null, less: number | null): number | null {
  return from === null || less === null ? null : Math.max(0, from - less);
}
