import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What a change must not make worse: of the agent's own, with figures and metadata, and with all that is built in. */
export interface Baseline {
  /** Millicores. */
  readonly cpu: number;
  readonly cpuAll: number;
  /** MiB of Pss. */
  readonly memory: number;
  readonly memoryAll: number;
}

const file = join(import.meta.dirname, "../baseline.json");
/** Worse by more than this fails. */
const ALLOWED = 0.2;

export function readBaseline(): Baseline {
  return JSON.parse(readFileSync(file, "utf8")) as Baseline;
}

export function writeBaseline(baseline: Baseline): void {
  writeFileSync(file, `${JSON.stringify(baseline, (_, value) => round(value), 2)}\n`);
}

const round = (value: unknown): unknown => (typeof value === "number" ? Number(value.toFixed(1)) : value);

/** What is worse than allowed, a line each. */
export function regressions(now: Baseline, before: Baseline): readonly string[] {
  const names = Object.keys(before) as (keyof Baseline)[];
  return names.flatMap((name) => {
    const change = now[name] / before[name] - 1;
    if (change <= ALLOWED) return [];
    return [
      `${name}: ${now[name].toFixed(1)} against ${before[name].toFixed(1)}, ${(change * 100).toFixed(0)} % worse`,
    ];
  });
}
