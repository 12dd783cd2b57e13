import { readdirSync, readFileSync, readlinkSync } from "node:fs";

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

/** What a process can leave behind, counted. */
export interface Held {
  readonly descriptors: number;
  /** Namespaces that a descriptor holds, or a thread is in: pod after pod they would add up. */
  readonly namespaces: number;
  /** Lines of its mountinfo. */
  readonly mounts: number;
  readonly threads: number;
  readonly children: number;
  /** Children that ended and were not waited for. */
  readonly zombies: number;
}

/** Counts what a process holds now. */
export function heldBy(pid: number): Held {
  const threads = list(`/proc/${pid}/task`);
  const descriptors = list(`/proc/${pid}/fd`).map((name) => link(`/proc/${pid}/fd/${name}`));
  const entered = threads.flatMap((thread) =>
    list(`/proc/${pid}/task/${thread}/ns`).map((name) => link(`/proc/${pid}/task/${thread}/ns/${name}`)),
  );
  const children = childrenOf(pid);
  return {
    descriptors: descriptors.length,
    namespaces: new Set([...descriptors.filter((target) => /^[a-z]+:\[\d+\]$/.test(target)), ...entered]).size,
    mounts: read(`/proc/${pid}/mountinfo`).split("\n").filter(Boolean).length,
    threads: threads.length,
    children: children.length,
    zombies: children.filter((child) => / Z \d/.test(read(`/proc/${child}/stat`))).length,
  };
}

function descendants(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendants(child)]);
}

/** Any thread may have begun one. */
function childrenOf(pid: number): number[] {
  return list(`/proc/${pid}/task`).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
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
