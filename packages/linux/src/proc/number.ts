/** A count written as decimal digits alone; null for anything else, so that garbage never becomes a figure. */
export function parseCount(text: string | undefined): number | null {
  if (text === undefined) return null;
  const end = endOfDigits(text, 0);
  return end === text.length ? countBetween(text, 0, end) : null;
}

/** The count that begins at `start` and ends with a space, a line end or the text; null where there is none. */
export function countAt(text: string, start: number): number | null {
  const end = endOfDigits(text, start);
  return end === text.length || SPACES.has(text.charCodeAt(end)) ? countBetween(text, start, end) : null;
}

const SPACES: ReadonlySet<number> = new Set(Array.from(" \n\t\r", (space) => space.charCodeAt(0)));

function endOfDigits(text: string, start: number): number {
  let end = start;
  for (let code = text.charCodeAt(end); code >= 48 && code <= 57; code = text.charCodeAt(end)) end++;
  return end;
}

function countBetween(text: string, start: number, end: number): number | null {
  const digits = end - start;
  return digits === 0 || digits > 20 ? null : Number(text.slice(start, end));
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
