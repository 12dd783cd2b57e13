import { statfsSync } from "node:fs";
import type { FileSystemStatus } from "@trawler/plugin-api";
import { type Mount, parseMountinfo } from "../proc/mountinfo.ts";
import type { Budget } from "./budget.ts";
import { closeQuietly, descriptorPath } from "./descriptor.ts";
import { isReadable, MAX_MOUNTINFO, mountOf, readBounded } from "./mounts.ts";
import { encodePath } from "./path.ts";

/** More than a member has; a node with thousands of pods has more, most of them other members'. */
const MAX_FILE_SYSTEMS = 1000;

/** The mounts in a file of `/proc`; each character of their texts is one byte. */
export function readMounts(path: string): readonly Mount[] {
  return parseMountinfo(readBounded(path, MAX_MOUNTINFO));
}

/**
 * The mounts at and below a folder, as seen from it: pure. Where the folder is no mount point, the mount that holds it
 * (`holder`, its id) stands for it.
 */
export function mountsBelow(mounts: readonly Mount[], folder: string, holder: number | null): readonly Mount[] {
  const prefix = folder === "/" ? "/" : `${folder}/`;
  const below = mounts.flatMap((mount) => {
    if (mount.mountPoint === folder) return [{ ...mount, mountPoint: "/" }];
    return mount.mountPoint.startsWith(prefix)
      ? [{ ...mount, mountPoint: `/${mount.mountPoint.slice(prefix.length)}` }]
      : [];
  });
  const own = mounts.filter(({ id }) => id === holder).map((mount) => ({ ...mount, mountPoint: "/" }));
  return below.some(({ mountPoint }) => mountPoint === "/") ? below : [...own, ...below];
}

/** Each mount with its figures. One that another covers at the same place is left out. */
export async function readFileSystems(
  mounts: readonly Mount[],
  find: (path: string) => number,
  budget: Budget,
): Promise<{ readonly fileSystems: readonly FileSystemStatus[]; readonly truncated: boolean }> {
  const visible = new Map<string, Mount>();
  for (const mount of mounts) {
    visible.delete(mount.mountPoint);
    visible.set(mount.mountPoint, mount);
  }
  const fileSystems: FileSystemStatus[] = [];
  for (const mount of visible.values()) {
    if (fileSystems.length >= MAX_FILE_SYSTEMS) return { fileSystems, truncated: true };
    const mountPoint = encodePath(Buffer.from(mount.mountPoint, "latin1"));
    fileSystems.push({
      device: encodePath(Buffer.from(mount.source, "latin1")),
      mountPoint,
      type: mount.fileSystem,
      options: effectiveOptions(mount),
      ...(isReadable(mount.fileSystem) ? readFigures(mount.id, mountPoint, find) : UNKNOWN),
    });
    await budget.turn();
  }
  return { fileSystems, truncated: false };
}

type Figures = Omit<FileSystemStatus, "device" | "mountPoint" | "type" | "options">;

const UNKNOWN: Figures = { size: null, used: null, free: null, available: null, inodes: null, inodesFree: null };

/** What statfs(2) says of the mount `id`; nothing where its mount point leads elsewhere, or is out of reach. */
function readFigures(id: number, mountPoint: string, find: (path: string) => number): Figures {
  let descriptor = -1;
  try {
    descriptor = find(mountPoint);
    if (mountOf(descriptor) !== id) return UNKNOWN;
    const { bsize, blocks, bfree, bavail, files, ffree } = statfsSync(descriptorPath(descriptor));
    return {
      size: blocks * bsize,
      used: (blocks - bfree) * bsize,
      free: bfree * bsize,
      available: bavail * bsize,
      inodes: files,
      inodesFree: ffree,
    };
  } catch {
    return UNKNOWN;
  } finally {
    if (descriptor !== -1) closeQuietly(descriptor);
  }
}

/** A mount of a file system that is itself read-only cannot be written to, whatever its own options say. */
function effectiveOptions({ options, superOptions }: Mount): readonly string[] {
  if (!superOptions.includes("ro") || options.includes("ro")) return options;
  return options.map((option) => (option === "rw" ? "ro" : option));
}
