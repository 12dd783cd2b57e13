import { type GpuStatus, TrawlerError } from "@trawler/plugin-api";
import type { ProcFiles } from "../proc/files.ts";
import type { Belongs } from "../proc/process-reader.ts";
import { type GpuDevice, readGpuDevices } from "./devices.ts";
import { readGpuFigures } from "./figures.ts";
import { readFileHolders } from "./holders.ts";

export interface GpuSource {
  /** The node's `/sys`. */
  readonly system: ProcFiles;
  /** Of a member: only what these hold open is its own. Asked only where the node has such a device. */
  readonly pids: () => readonly number[];
  /** Absent for the host, which has all. */
  readonly belongs: Belongs | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The host's graphics processors with their figures; or those that a member's processes have opened, with these. */
export async function readGpus(proc: ProcFiles, source: GpuSource): Promise<readonly GpuStatus[]> {
  const { system, belongs, signal } = source;
  const devices = readGpuDevices(proc, system);
  if (devices.length === 0) return [];
  if (belongs === undefined) {
    const found: GpuStatus[] = [];
    for (const device of devices) {
      found.push({ ...statusOf(device), figures: await readGpuFigures(system, device.folder, signal), pids: null });
    }
    return found;
  }
  const paths = new Set(devices.flatMap(({ files }) => files));
  const holders = await readFileHolders(proc, paths, { pids: source.pids(), belongs, signal });
  if (holders === null) throw new TrawlerError("TRAWLER_DENIED", "which files its processes have open is not readable");
  return devices.flatMap((device) => {
    const pids = [...new Set(device.files.flatMap((file) => holders.get(file) ?? []))].sort((a, b) => a - b);
    return pids.length === 0 ? [] : [{ ...statusOf(device), figures: null, pids }];
  });
}

function statusOf({ address, driver, model, uuid, files }: GpuDevice): Omit<GpuStatus, "figures" | "pids"> {
  return { address, driver, model, uuid, files };
}
