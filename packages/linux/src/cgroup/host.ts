import type { CgroupAccess, Clock, CpuFigures, MemoryFigures, PidsFigures } from "@trawler/plugin-api";
import { parseDiskstats } from "../proc/diskstats.ts";
import { orNull, type ProcFiles } from "../proc/files.ts";
import { parseCounts } from "../proc/key-value.ts";
import { difference, divided, parseCount, sum } from "../proc/number.ts";
import { parseProcessors } from "../proc/processors.ts";
import { TICKS_PER_SECOND } from "../proc/stat.ts";
import { parseMeminfo, parseSystemStat } from "../proc/system.ts";
import { parsePressure } from "./pressure.ts";

/** `/proc/stat` and `/proc/diskstats` grow with interrupts and disks. */
const LONG = 1024 * 1024;

/** Figures of the whole machine. The root cgroup has no usage or limit files: `/proc` has the same figures. */
export function openHostCgroup(files: ProcFiles, clock: Clock): CgroupAccess {
  const read = (path: string): string => orNull(() => files.text(path, LONG)) ?? "";
  return {
    cpu: async () => parseHostCpu(read("stat"), clock.monotonic()),
    memory: async () => parseHostMemory(read("meminfo"), read("vmstat")),
    block: async () => parseDiskstats(read("diskstats")),
    pids: async () => parseHostPids(read("loadavg"), read("sys/kernel/threads-max"), read("sys/kernel/pid_max")),
    processors: async () => parseProcessors(read("stat")),
    pressure: async () => ({
      cpu: parsePressure(readPressure(files, "cpu")),
      memory: parsePressure(readPressure(files, "memory")),
      io: parsePressure(readPressure(files, "io")),
    }),
  };
}

/** Null where the kernel keeps none, or was started without (EOPNOTSUPP). */
function readPressure(files: ProcFiles, name: string): string | null {
  try {
    return files.text(`pressure/${name}`);
  } catch {
    return null;
  }
}

/** `/proc/stat`. The limit is the number of CPUs online. */
export function parseHostCpu(stat: string, monotonic: number): CpuFigures {
  const { userTicks, systemTicks, processors } = parseSystemStat(stat);
  return {
    monotonic,
    time: divided(sum(userTicks, systemTicks), TICKS_PER_SECOND),
    user: divided(userTicks, TICKS_PER_SECOND),
    system: divided(systemTicks, TICKS_PER_SECOND),
    periods: null,
    throttledPeriods: null,
    throttledTime: null,
    limit: processors === 0 ? null : processors,
  };
}

/** `/proc/meminfo` and `/proc/vmstat`; usage = what is not free, as the kubelet counts for a node. */
export function parseHostMemory(meminfo: string, vmstat: string): MemoryFigures {
  const bytes = parseMeminfo(meminfo);
  const counts = parseCounts(vmstat);
  const of = (name: string): number | null => bytes.get(name) ?? null;
  const count = (name: string): number | null => counts.get(name) ?? null;
  const usage = difference(of("MemTotal"), of("MemFree"));
  return {
    usage,
    workingSet: difference(usage, of("Inactive(file)")),
    rss: of("AnonPages"),
    cache: sum(of("Cached"), of("Buffers")),
    shared: of("Shmem"),
    swap: difference(of("SwapTotal"), of("SwapFree")),
    peak: null,
    limit: of("MemTotal"),
    effectiveLimit: of("MemTotal"),
    minorFaults: difference(count("pgfault"), count("pgmajfault")),
    majorFaults: count("pgmajfault"),
    outOfMemory: null,
    outOfMemoryKills: count("oom_kill"),
  };
}

/** `/proc/loadavg` (`0.1 0.2 0.3 2/345 6789`: 345 threads) and the lower of the two limits of the kernel. */
export function parseHostPids(loadavg: string, threadsMax: string, pidMax: string): PidsFigures {
  const limits = [parseCount(threadsMax.trim()), parseCount(pidMax.trim())].filter((limit) => limit !== null);
  return {
    current: parseCount(loadavg.split(" ")[3]?.split("/")[1]),
    limit: limits.length === 0 ? null : Math.min(...limits),
  };
}
