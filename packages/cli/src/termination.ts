import { closeSync, constants, openSync, writeSync } from "node:fs";

/** Where a kubelet reads why a container ended, unless its pod names another place (terminationMessagePath). */
const TERMINATION_LOG = "/dev/termination-log";
/** Bytes of it that the kubelet takes. */
const TAKEN = 4096;

/** Tells the pod why the agent ends. Writes nothing where there is no such file, as outside of a container, and never throws. */
export function tellTermination(message: string, path: string = TERMINATION_LOG): void {
  try {
    const descriptor = openSync(path, constants.O_WRONLY | constants.O_TRUNC);
    try {
      writeSync(descriptor, Buffer.from(message).subarray(0, TAKEN));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // It is told on standard error too.
  }
}
