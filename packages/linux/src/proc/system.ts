import { type Counts, parseCounts } from "./key-value.ts";
import { parseCount } from "./number.ts";

/** `/proc/stat`: CPU time of the whole machine in clock ticks, and when it booted. */
export interface SystemStat {
  readonly userTicks: number | null;
  readonly systemTicks: number | null;
  /** CPUs that are online. */
  readonly processors: number;
  /** Boot time, seconds since the epoch. */
  readonly bootTime: number | null;
}

/** Parses `/proc/stat`. User time holds `nice`, system time holds interrupts; idle, waiting and stolen time are none. */
export function parseSystemStat(text: string): SystemStat {
  let cpu: readonly (number | null)[] = [];
  let processors = 0;
  let bootTime: number | null = null;
  for (const line of text.split("\n")) {
    const [name, ...values] = line.split(/\s+/);
    if (name === "cpu") cpu = values.map(parseCount);
    else if (name?.startsWith("cpu")) processors += 1;
    else if (name === "btime") bootTime = parseCount(values[0]);
  }
  const [user = null, nice = null, system = null, , , interrupts = null, softInterrupts = null] = cpu;
  return {
    userTicks: user === null ? null : user + (nice ?? 0),
    systemTicks: system === null ? null : system + (interrupts ?? 0) + (softInterrupts ?? 0),
    processors,
    bootTime,
  };
}

/** `/proc/meminfo` in bytes by name. */
export function parseMeminfo(text: string): Counts {
  const counts = parseCounts(text);
  return {
    get(name) {
      const kibibytes = counts.get(name);
      return kibibytes === undefined ? undefined : kibibytes * 1024;
    },
  };
}

/** `/proc/uptime`: seconds since boot; null for garbage. */
export function parseUptime(text: string): number | null {
  const seconds = Number.parseFloat(text);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}
