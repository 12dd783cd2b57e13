import { statfsSync } from "node:fs";
import type { FileSystemStatus } from "@trawler/plugin-api";
import { type Mount, parseMountinfo } from "../proc/mountinfo.ts";
import type { Budget } from "./budget.ts";
import { closeQuietly, descriptorPath } from "./descriptor.ts";
import { descriptorWalk } from "./descriptor-walk.ts";
import { isReadable, MAX_MOUNTINFO, mountOf, readBounded, snapshotGuard } from "./mounts.ts";
import { encodePath } from "./path.ts";
import type { Resolver } from "./resolver.ts";

/** More than a member has; a node with thousands of pods has more, most of them other members'. */
const MAX_FILE_SYSTEMS = 1000;
/** Descriptors held at the same time. */
const BATCH = 64;

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

export interface MountQuery {
  /** The mounts now, with mount points from the root. */
  readonly mounts: () => readonly Mount[];
  /** The root's descriptor. */
  readonly root: number;
  readonly excluded: (mountPoint: string) => boolean;
  readonly excludedTypes: ReadonlySet<string>;
}

/** Each mount with its figures. One that another covers at the same place is left out. */
export async function readFileSystems(
  query: MountQuery,
  budget: Budget,
): Promise<{ readonly fileSystems: readonly FileSystemStatus[]; readonly truncated: boolean }> {
  const mounts = visible(query);
  const fileSystems: FileSystemStatus[] = [];
  const wanted = mounts.slice(0, MAX_FILE_SYSTEMS);
  for (let from = 0; from < wanted.length; from += BATCH) {
    fileSystems.push(...readBatch(wanted.slice(from, from + BATCH), query));
    await budget.turn();
  }
  return { fileSystems, truncated: mounts.length > wanted.length };
}

function visible({ mounts, excluded, excludedTypes }: MountQuery): readonly Mount[] {
  const found = new Map<string, Mount>();
  for (const mount of mounts()) {
    found.delete(mount.mountPoint);
    found.set(mount.mountPoint, mount);
  }
  return [...found.values()].filter((mount) => !excludedTypes.has(mount.fileSystem) && !excluded(mountPointOf(mount)));
}

interface Held {
  readonly mount: Mount;
  readonly descriptor: number | null;
}

/**
 * Opens the mount points, each mount on the way checked by the list, then reads the list again: while their descriptors
 * are open their ids are no other mount's, so that what is asked is what it says.
 */
function readBatch(mounts: readonly Mount[], { root, mounts: list }: MountQuery): readonly FileSystemStatus[] {
  const held: Held[] = [];
  try {
    const walk = descriptorWalk(snapshotGuard(typesOf(list())));
    for (const mount of mounts) held.push({ mount, descriptor: openMount(mount, root, walk) });
    const now = snapshotGuard(typesOf(list()));
    return held.map(({ mount, descriptor }) => ({
      device: text(mount.source),
      mountPoint: mountPointOf(mount),
      type: mount.fileSystem,
      options: effectiveOptions(mount),
      ...(descriptor === null || now.refuse(mount.id) !== null ? UNKNOWN : readFigures(descriptor)),
    }));
  } finally {
    for (const { descriptor } of held) if (descriptor !== null) closeQuietly(descriptor);
  }
}

/** Null where the mount point is out of reach, leads elsewhere (another mount covers it), or may not be asked. */
function openMount({ id, mountPoint, fileSystem }: Mount, root: number, walk: Resolver): number | null {
  if (!isReadable(fileSystem)) return null;
  let descriptor = -1;
  try {
    descriptor = walk.open(root, Buffer.from(mountPoint, "latin1"), false);
    if (mountOf(descriptor) === id) return descriptor;
  } catch {
    // Out of reach.
  }
  if (descriptor !== -1) closeQuietly(descriptor);
  return null;
}

type Figures = Omit<FileSystemStatus, "device" | "mountPoint" | "type" | "options">;

const UNKNOWN: Figures = { size: null, used: null, free: null, available: null, inodes: null, inodesFree: null };

function readFigures(descriptor: number): Figures {
  try {
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
  }
}

function typesOf(mounts: readonly Mount[]): ReadonlyMap<number, string> {
  return new Map(mounts.map(({ id, fileSystem }) => [id, fileSystem]));
}

function mountPointOf({ mountPoint }: Mount): string {
  return text(mountPoint);
}

function text(latin1: string): string {
  return encodePath(Buffer.from(latin1, "latin1"));
}

/** A mount of a file system that is itself read-only cannot be written to, whatever its own options say. */
function effectiveOptions({ options, superOptions }: Mount): readonly string[] {
  if (!superOptions.includes("ro") || options.includes("ro")) return options;
  return options.map((option) => (option === "rw" ? "ro" : option));
}
