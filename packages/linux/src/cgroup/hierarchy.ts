import { readdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { orNull, type ProcFiles } from "../proc/files.ts";
import { type Mount, parseMountinfo } from "../proc/mountinfo.ts";

/** `CGROUP2_SUPER_MAGIC` of statfs(2). */
const CGROUP2_MAGIC = 0x63677270;
const CONTROLLERS = ["cpu", "cpuacct", "memory", "blkio", "pids"] as const;
const MOUNTINFO_BYTES = 1024 * 1024;

export type Controller = (typeof CONTROLLERS)[number];

/** Where the cgroups of this machine are. A controller that is in no v1 hierarchy is looked for in the unified one. */
export interface Hierarchy {
  /** Folder of the unified (v2) hierarchy; null where there is none. */
  readonly unified: string | null;
  /** Folder of each v1 controller, mounted alone or with others in any order. */
  readonly v1: ReadonlyMap<Controller, string>;
}

/** Finds the hierarchies below `root`: by statfs(2) for v2, by our own mounts for v1 and hybrid, else by what the folder holds. */
export function findHierarchy(root: string, files: ProcFiles): Hierarchy {
  if (orNull(() => statfsSync(root).type) === CGROUP2_MAGIC) return { unified: root, v1: new Map() };
  const mounts = parseMountinfo(orNull(() => files.text("self/mountinfo", MOUNTINFO_BYTES)) ?? "");
  const mounted = hierarchyOfMounts(mounts, root);
  if (mounted.unified !== null || mounted.v1.size > 0) return mounted;
  return hierarchyOfNames(orNull(() => readdirSync(root)) ?? [], root);
}

/** By mounts at or below `root`: pure. */
export function hierarchyOfMounts(mounts: readonly Mount[], root: string): Hierarchy {
  const below = root.endsWith("/") ? root : `${root}/`;
  let unified: string | null = null;
  const v1 = new Map<Controller, string>();
  for (const { mountPoint, fileSystem, superOptions } of mounts) {
    if (mountPoint !== root && !mountPoint.startsWith(below)) continue;
    if (fileSystem === "cgroup2") unified ??= mountPoint;
    if (fileSystem !== "cgroup") continue;
    for (const controller of CONTROLLERS) if (superOptions.includes(controller)) v1.set(controller, mountPoint);
  }
  return { unified, v1 };
}

/** By the names in `root`, for a tree that is reached through no mount of its own (a copy, a bind of a parent): pure. */
export function hierarchyOfNames(names: readonly string[], root: string): Hierarchy {
  if (names.includes("cgroup.controllers")) return { unified: root, v1: new Map() };
  const v1 = new Map<Controller, string>();
  for (const name of names) {
    const parts = name.split(",");
    for (const controller of CONTROLLERS) if (parts.includes(controller)) v1.set(controller, join(root, name));
  }
  return { unified: names.includes("unified") ? join(root, "unified") : null, v1 };
}

/** The folders that hold the same tree of cgroups, the most telling first. */
export function hierarchyFolders({ unified, v1 }: Hierarchy): readonly string[] {
  const folders = (["memory", "pids", "cpu", "cpuacct", "blkio"] as const).map((controller) => v1.get(controller));
  return [...new Set([...folders, unified].filter((folder) => folder != null))];
}
