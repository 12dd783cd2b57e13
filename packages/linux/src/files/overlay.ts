import type { Stats } from "node:fs";
import type { FileStatus } from "@trawler/plugin-api";
import { loadLibc } from "../ffi/libc.ts";
import { descriptorPath } from "./descriptor.ts";

/** What one layer of an overlay says about a path (`overlayfs` of the kernel's documentation). */
export interface LayerEntry {
  readonly status: FileStatus;
  /** Neither this layer nor those below have it. */
  readonly whiteout: boolean;
  /** A folder that hides those below. */
  readonly opaque: boolean;
}

/** As root sets it, and as one without rights does. */
const OPAQUE = ["trusted.overlay.opaque", "user.overlay.opaque"];

/** A character device of number 0. */
export function isWhiteout(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === 0;
}

/** Whether the folder that an O_PATH descriptor names is marked; never, where the mark cannot be seen. */
export async function isOpaque(descriptor: number): Promise<boolean> {
  const libc = await loadLibc();
  if (libc === null) return false;
  const value = Buffer.alloc(8);
  return OPAQUE.some((name) => libc.getxattr(descriptorPath(descriptor), name, value) === 1 && value[0] === 0x79);
}
