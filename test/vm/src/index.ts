import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Progress, TestbedError } from "@trawler/testbed";
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
 * Runs a node on cgroup v2 with one driver, crawls it three times from inside and answers what it saw. Where it fails,
 * the error names the folder that holds the console and the logs; it is kept.
 */
export const runInMachine = async (driver: CgroupDriver, { progress, deadline }: RunOptions): Promise<GuestResult> => {
  const guest = await buildGuest(progress);
  // Each run has its own, so that two at a time do not meet.
  const work = mkdtempSync(join(tmpdir(), `trawler-vm-${driver}-`));
  const dataDisk = await makeDataDisk(driver, work);
  progress(`starting a node with the ${driver} driver`);
  const output = await runMachine({ guest, driver, dataDisk, work, progress, deadline });
  for (const name of ["data", "data.tar", "output.img"]) rmSync(join(work, name), { recursive: true });
  const failure = join(output, "failure.txt");
  if (existsSync(failure)) throw new TestbedError(`In the guest: ${readFileSync(failure, "utf8")}\nLogs: ${work}`);
  const result = JSON.parse(readFileSync(join(output, "result.json"), "utf8")) as GuestResult;
  if (process.env["TRAWLER_VM_KEEP"] !== "1") rmSync(work, { recursive: true });
  return result;
};
