import { openSync, readSync } from "node:fs";
import { closeQuietly } from "./descriptor.ts";

/**
 * File systems whose files are read: those of disks, memory and images. Left out are what the kernel makes up (proc,
 * sysfs, cgroup: endless or magic files) and what may never answer (fuse, nfs, cifs, 9p: a dead one hangs its reader).
 */
const READABLE_FILE_SYSTEMS: ReadonlySet<string> = new Set([
  "aufs",
  "bcachefs",
  "btrfs",
  "devtmpfs",
  "erofs",
  "exfat",
  "ext2",
  "ext3",
  "ext4",
  "f2fs",
  "iso9660",
  "jfs",
  "overlay",
  "ramfs",
  "reiserfs",
  "rootfs",
  "squashfs",
  "tmpfs",
  "vfat",
  "xfs",
  "zfs",
]);

export const MAX_MOUNTINFO: number = 4 * 1024 * 1024;
const MAX_FDINFO = 4096;

/** Whether the files of such a file system are read, and the file system itself is asked. */
export function isReadable(type: string): boolean {
  return READABLE_FILE_SYSTEMS.has(type);
}

/** The type of the mount `id` in the text of a `mountinfo`; null where it is not listed. proc_pid_mountinfo(5). */
export function mountType(mountinfo: string, id: number): string | null {
  const start = `${id} `;
  let at = mountinfo.startsWith(start) ? 0 : mountinfo.indexOf(`\n${start}`);
  if (at === -1) return null;
  if (mountinfo[at] === "\n") at++;
  const end = mountinfo.indexOf("\n", at);
  // Spaces inside fields are written as \040, so the first lone hyphen ends the optional fields.
  const line = mountinfo.slice(at, end === -1 ? undefined : end);
  const hyphen = line.indexOf(" - ");
  return hyphen === -1 ? null : (line.slice(hyphen + 3).split(" ", 1)[0] ?? null);
}

/** `mnt_id` in the text of a `fdinfo`; null where the kernel does not say. */
export function parseMountId(fdinfo: string): number | null {
  const found = /^mnt_id:\s*(\d+)$/m.exec(fdinfo)?.[1];
  return found === undefined ? null : Number(found);
}

/** The mount that a descriptor stands on. Asks the kernel's own books only, never the file system. */
export function mountOf(descriptor: number): number | null {
  return parseMountId(readBounded(`/proc/self/fdinfo/${descriptor}`, MAX_FDINFO));
}

/** Whether the files of a mount may be read. */
export interface MountGuard {
  /** The type where it is refused, or null. Ask only while a descriptor on that mount is open: ids are used again. */
  refuse(mountId: number | null): string | null;
}

/** Looks the mount up in each `mountinfo` in turn, read anew each time. A mount that none lists is refused. */
export function mountGuard(mountinfos: readonly string[]): MountGuard {
  return {
    refuse(id) {
      if (id === null) return "unknown";
      for (const path of mountinfos) {
        const type = mountType(readBounded(path, MAX_MOUNTINFO), id);
        if (type !== null) return isReadable(type) ? null : type;
      }
      return "unknown";
    },
  };
}

/** The same from a list that has just been read: for many mounts at once, which are checked again before they are asked. */
export function snapshotGuard(types: ReadonlyMap<number, string>): MountGuard {
  return {
    refuse(id) {
      const type = id === null ? undefined : types.get(id);
      return type !== undefined && isReadable(type) ? null : (type ?? "unknown");
    },
  };
}

/** A file of our own /proc, at most `max` bytes. */
export function readBounded(path: string, max: number): string {
  const descriptor = openSync(path, "r");
  try {
    let buffer = Buffer.allocUnsafe(Math.min(max, 8192));
    let used = 0;
    for (;;) {
      if (used === buffer.length) {
        if (used >= max) break;
        buffer = Buffer.concat([buffer, Buffer.allocUnsafe(Math.min(buffer.length, max - used))]);
      }
      const count = readSync(descriptor, buffer, used, buffer.length - used, null);
      if (count === 0) break;
      used += count;
    }
    return buffer.toString("latin1", 0, used);
  } finally {
    closeQuietly(descriptor);
  }
}
