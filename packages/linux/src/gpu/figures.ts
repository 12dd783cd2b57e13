import { errorCode, type GpuFigures } from "@trawler/plugin-api";
import type { ProcFiles } from "../proc/files.ts";
import { divided, parseCount } from "../proc/number.ts";

const PERCENT = 100;
const MILLI = 1000;
const MICRO = 1_000_000;
const MAX_MONITORS = 8;

/**
 * Figures of one device from files of its driver: `amdgpu`'s own (kernel documentation, "GPU Power/Thermal Controls and
 * Monitoring") and those of its hardware monitor, which `nouveau`, `i915` and `xe` have as well. NVIDIA's driver has
 * none: it tells its library alone. `folder` is that of the device below `/sys`.
 */
export async function readGpuFigures(
  system: ProcFiles,
  folder: string | null,
  signal: AbortSignal | undefined,
): Promise<GpuFigures> {
  const read = async (name: string): Promise<number | null> => {
    if (folder === null) return null;
    const path = `${folder}/${name}`;
    try {
      // A driver may wake its device for this, or hang with it.
      return parseCount((await system.slowText(path, signal === undefined ? {} : { signal }))?.trim());
    } catch (error) {
      if (signal?.aborted || !/^E[A-Z]+$/.test(errorCode(error) ?? "")) throw error;
      return null;
    }
  };
  const first = async (monitors: readonly string[], ...names: readonly string[]): Promise<number | null> => {
    for (const monitor of monitors) {
      for (const name of names) {
        const value = await read(`hwmon/${monitor}/${name}`);
        if (value !== null) return value;
      }
    }
    return null;
  };
  const monitors = folder === null ? [] : monitorsOf(system, folder);
  return {
    utilization: divided(await read("gpu_busy_percent"), PERCENT),
    memoryUtilization: divided(await read("mem_busy_percent"), PERCENT),
    memoryTotal: await read("mem_info_vram_total"),
    memoryUsed: await read("mem_info_vram_used"),
    temperature: divided(await first(monitors, "temp1_input", "temp2_input"), MILLI),
    power: divided(await first(monitors, "power1_average", "power1_input"), MICRO),
    powerLimit: divided(await first(monitors, "power1_cap", "power1_max"), MICRO),
  };
}

function monitorsOf(system: ProcFiles, folder: string): readonly string[] {
  try {
    return system.names(`${folder}/hwmon`, MAX_MONITORS).filter((name) => /^hwmon\d+$/.test(name));
  } catch {
    return [];
  }
}
