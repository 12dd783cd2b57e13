import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, type Progress, TestbedError } from "@trawler/testbed";
import { buildGuest } from "./build-disk.ts";
import { makeDataDisk } from "./data-disk.ts";
import type { GuestResult } from "./guest/result.ts";
import { runMachine } from "./machine.ts";
import type { CgroupDriver } from "./pins.ts";

export { type CgroupFigures, figuresOf, type InterfaceFigures, interfacesOf } from "./figures.ts";
export { cgroupName } from "./guest/read-cgroups.ts";
export type { CgroupReading, GuestPod, GuestResult, PodReading, Round } from "./guest/result.ts";
export { type CgroupDriver, drivers } from "./pins.ts";
export { vmUnsupported } from "./unsupported.ts";

export interface RunOptions {
  readonly progress: Progress;
  /** Milliseconds for the machine, from power on to power off. */
  readonly deadline: number;
}

/**
 * Runs a node on cgroup v2 with one driver, crawls it three times from inside and answers what it saw. The run's files
 * stay in the cache, under `vm-run-<driver>`, until the next one.
 */
export const runInMachine = async (driver: CgroupDriver, { progress, deadline }: RunOptions): Promise<GuestResult> => {
  const guest = await buildGuest(progress);
  const work = join(cacheFolder(), `vm-run-${driver}`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const dataDisk = await makeDataDisk(driver, work);
  progress(`starting a node with the ${driver} driver`);
  const output = await runMachine({ guest, driver, dataDisk, work, progress, deadline });
  rmSync(join(work, "data"), { recursive: true });
  for (const disk of [dataDisk, join(work, "output.img")]) rmSync(disk);
  const failure = join(output, "failure.txt");
  if (existsSync(failure))
    throw new TestbedError(`In the guest: ${readFileSync(failure, "utf8")}\nLogs: ${output}/log`);
  return JSON.parse(readFileSync(join(output, "result.json"), "utf8")) as GuestResult;
};
