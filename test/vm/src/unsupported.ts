import { installPackages, type Progress, testbedUnsupported } from "@trawler/testbed";
import { hostPackages } from "./pins.ts";

/**
 * Why the virtual machine cannot run here, in one sentence for a skipped test; `undefined` where it can. Installs what
 * is missing.
 */
export const vmUnsupported = async (progress: Progress): Promise<string | undefined> => {
  const reason = testbedUnsupported();
  if (reason !== undefined) return reason;
  if (process.arch !== "x64") return `The virtual machine is an x64 one; this is ${process.arch}.`;
  try {
    await installPackages(hostPackages, progress);
    return undefined;
  } catch (error) {
    return `qemu cannot be had: ${error instanceof Error ? error.message : String(error)}`;
  }
};
