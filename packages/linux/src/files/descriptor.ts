import { closeSync, constants, fstatSync, openSync, type Stats } from "node:fs";
import type { FileType } from "@trawler/plugin-api";
import { SystemError } from "../ffi/libc.ts";

/** Names a file without opening it: no side effect, no wait, and no read through it. */
export const O_PATH = 0o10000000;

/** The path by which this process names one of its own descriptors. */
export function descriptorPath(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

export function closeQuietly(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch {
    // Nothing is left to give back.
  }
}

export function fileType(stats: Stats): FileType {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  if (stats.isSymbolicLink()) return "symlink";
  if (stats.isFIFO()) return "fifo";
  if (stats.isSocket()) return "socket";
  if (stats.isCharacterDevice()) return "character";
  if (stats.isBlockDevice()) return "block";
  return "unknown";
}

/**
 * Opens for reading what an O_PATH descriptor names, which must be of the `wanted` type: never blocks on a FIFO, never
 * wakes a device, and is the very file that was checked. The access time is left alone where the kernel allows.
 */
export function reopen(descriptor: number, wanted: "file" | "directory"): number {
  if (fileType(fstatSync(descriptor)) !== wanted) throw new SystemError(wanted === "file" ? "EFTYPE" : "ENOTDIR");
  const kind = wanted === "directory" ? constants.O_DIRECTORY : 0;
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | kind;
  const opened = openWithoutAccessTime(descriptorPath(descriptor), flags);
  const before = fstatSync(descriptor, { bigint: true });
  const after = fstatSync(opened, { bigint: true });
  if (before.dev !== after.dev || before.ino !== after.ino || before.mode !== after.mode) {
    closeQuietly(opened);
    throw new SystemError("ESTALE");
  }
  return opened;
}

function openWithoutAccessTime(path: string, flags: number): number {
  try {
    return openSync(path, flags | constants.O_NOATIME);
  } catch (error) {
    // Only a file's owner may ask for it.
    if (error instanceof Error && "code" in error && error.code === "EPERM") return openSync(path, flags);
    throw error;
  }
}
