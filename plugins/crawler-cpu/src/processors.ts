import { type CgroupAccess, errorCode, type ProcessorFigures } from "@trawler/plugin-api";
import * as z from "zod";

const figure = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });

/** One logical processor of the host. */
export const processorSchema = z.strictObject({
  "cpu.logical_number": z.int().nonnegative().meta({ "x-unit": "1", description: "As the kernel numbers it." }),
  "cpu.time.user": figure("s", "Time since boot in user mode, that of guests included."),
  "cpu.time.nice": figure("s", "Time in user mode at a low priority."),
  "cpu.time.system": figure("s", "Time in the kernel."),
  "cpu.time.idle": figure("s", "Time without work."),
  "cpu.time.iowait": figure("s", "Time without work while a task waited for a disk: not exact, and may go back."),
  "cpu.time.interrupt": figure("s", "Time for interrupts."),
  "cpu.time.steal": figure("s", "Time in which the hypervisor ran something else."),
  "cpu.usage": figure("{cpu}", "Share that ran work of this host between the last two readings, as in `cpu`."),
  "cpu.utilization": figure("1", "Share that was not idle: what waited for a disk, or was stolen, is in it."),
});

/** The processors where the figures are the host's; none where they are a member's. */
export async function readProcessors(
  cgroup: CgroupAccess,
  options: { readonly signal: AbortSignal },
): Promise<readonly ProcessorFigures[]> {
  try {
    return await cgroup.processors(options);
  } catch (error) {
    if (errorCode(error) === "TRAWLER_UNSUPPORTED") return [];
    throw error;
  }
}

/** Rates between two readings. Null on the first one, where a counter went back, and where no time has passed. */
export function processorValue(
  processor: ProcessorFigures,
  state: Map<string, number>,
): z.infer<typeof processorSchema> {
  const { number, user, nice, system, idle, ioWait, interrupt, steal } = processor;
  const busy = (user ?? 0) + (nice ?? 0) + (system ?? 0) + (interrupt ?? 0);
  const total = busy + (idle ?? 0) + (ioWait ?? 0) + (steal ?? 0);
  const since = (name: string, value: number): number => {
    const key = `processor ${number} ${name}`;
    const before = state.get(key) ?? Number.NaN;
    state.set(key, value);
    return value - before;
  };
  const elapsed = since("total", total);
  const used = since("busy", busy);
  const rested = since("idle", idle ?? 0);
  const share = (part: number): number | null => (elapsed > 0 && part >= 0 ? Math.min(1, part / elapsed) : null);
  const quiet = idle === null ? null : share(rested);
  return {
    "cpu.logical_number": number,
    "cpu.time.user": user,
    "cpu.time.nice": nice,
    "cpu.time.system": system,
    "cpu.time.idle": idle,
    "cpu.time.iowait": ioWait,
    "cpu.time.interrupt": interrupt,
    "cpu.time.steal": steal,
    "cpu.usage": share(used),
    "cpu.utilization": quiet === null ? null : 1 - quiet,
  };
}
