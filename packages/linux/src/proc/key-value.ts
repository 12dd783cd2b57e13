import { countAt } from "./number.ts";

/** Counts of a file by name, in the file's own unit. */
export interface Counts {
  /** Undefined where there is no such line, or no count in it. */
  get(name: string): number | undefined;
}

/**
 * A file of lines `name value` or `name: value kB`. Each look-up searches the text: of some forty lines of `memory.stat`
 * eight are asked for.
 */
export function parseCounts(text: string): Counts {
  return { get: (name) => find(text, name) };
}

function find(text: string, name: string): number | undefined {
  for (let at = 0; at >= 0; at = nextLine(text, name, at)) {
    if (!text.startsWith(name, at)) continue;
    let start = at + name.length;
    if (text[start] === ":") start += 1;
    // A longer name that begins alike.
    if (text[start] !== " ") continue;
    while (text[start] === " ") start += 1;
    return countAt(text, start) ?? undefined;
  }
  return undefined;
}

/** Where the next line that may begin with the name begins; −1 where none does. */
function nextLine(text: string, name: string, from: number): number {
  const found = text.indexOf(`\n${name}`, from);
  return found < 0 ? -1 : found + 1;
}
