import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/** CPU time of a process so far, user and system, its ended children left out; seconds. Zero where it has gone. */
export function cpuSeconds(pid: number): number {
  const [, rest = ""] = read(`/proc/${pid}/stat`).split(/\) (?=[A-Z] )/);
  const fields = rest.split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

export interface Memory {
  /** MiB, each page divided by the processes that share it. */
  readonly pss: number;
  /** Of it what no file holds. */
  readonly anonymous: number;
  readonly rss: number;
}

/** What a process and all below it hold, by `smaps_rollup`. */
export function memoryOf(pid: number): Memory {
  const sum = { pss: 0, anonymous: 0, rss: 0 };
  for (const one of [pid, ...descendants(pid)]) {
    const text = read(`/proc/${one}/smaps_rollup`);
    const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0) / 1024;
    sum.pss += field("Pss");
    sum.anonymous += field("Pss_Anon");
    sum.rss += field("Rss");
  }
  return sum;
}

export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function descendants(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** The middle value, and half of the distance between the quartiles. */
export function median(values: readonly number[]): { readonly middle: number; readonly spread: number } {
  const sorted = values.toSorted((a, b) => a - b);
  return { middle: quantile(sorted, 0.5), spread: (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2 };
}

/** Of values in ascending order, between neighbours in proportion. */
export function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return Number.NaN;
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  return low + (at - Math.floor(at)) * ((sorted[Math.ceil(at)] ?? low) - low);
}

export const fixed = (value: number, digits = 1): string => value.toFixed(digits);
