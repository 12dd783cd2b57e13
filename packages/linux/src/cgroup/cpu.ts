import type { CpuFigures } from "@trawler/plugin-api";
import { parseCounts } from "../proc/key-value.ts";
import { divided, parseCount } from "../proc/number.ts";
import { TICKS_PER_SECOND } from "../proc/stat.ts";
import { parseValue } from "./values.ts";

type Text = string | null;
const MICROSECONDS = 1e6;
const NANOSECONDS = 1e9;

/** v2: `cpu.stat` in microseconds, `cpu.max` (`quota period`, or `max period`). */
export function parseCpuV2(stat: Text, max: Text, monotonic: number): CpuFigures {
  const counts = parseCounts(stat ?? "");
  const count = (name: string): number | null => counts.get(name) ?? null;
  const [quota, period] = (max ?? "").trim().split(" ").map(parseCount);
  return {
    monotonic,
    time: divided(count("usage_usec"), MICROSECONDS),
    user: divided(count("user_usec"), MICROSECONDS),
    system: divided(count("system_usec"), MICROSECONDS),
    periods: count("nr_periods"),
    throttledPeriods: count("nr_throttled"),
    throttledTime: divided(count("throttled_usec"), MICROSECONDS),
    limit: cores(quota ?? null, period ?? null),
  };
}

/** v1: `cpuacct.usage` in nanoseconds, `cpuacct.stat` in ticks, `cpu.stat` in nanoseconds, quota (−1 = none) and period. */
export function parseCpuV1(
  files: {
    readonly usage: Text;
    readonly accounting: Text;
    readonly stat: Text;
    readonly quota: Text;
    readonly period: Text;
  },
  monotonic: number,
): CpuFigures {
  const ticks = parseCounts(files.accounting ?? "");
  const counts = parseCounts(files.stat ?? "");
  const count = (name: string): number | null => counts.get(name) ?? null;
  return {
    monotonic,
    time: divided(parseValue(files.usage), NANOSECONDS),
    user: divided(ticks.get("user") ?? null, TICKS_PER_SECOND),
    system: divided(ticks.get("system") ?? null, TICKS_PER_SECOND),
    periods: count("nr_periods"),
    throttledPeriods: count("nr_throttled"),
    throttledTime: divided(count("throttled_time"), NANOSECONDS),
    limit: cores(parseValue(files.quota), parseValue(files.period)),
  };
}

function cores(quota: number | null, period: number | null): number | null {
  return quota === null || period === null || period === 0 ? null : quota / period;
}
