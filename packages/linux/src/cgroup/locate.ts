import { opendirSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import type { Handle } from "@trawler/plugin-api";
import { orNull, type ProcFiles } from "../proc/files.ts";
import { type Hierarchy, hierarchyFolders } from "./hierarchy.ts";
import { isContainerFolder, isPodFolder, parseCgroupIdentity } from "./identity.ts";
import { parseProcessCgroups, processPaths } from "./proc-cgroup.ts";

/** Bounds of a walk: more folders than a node has cgroups; deeper than a kubelet inside a kubelet. */
const MAX_FOLDERS = 20_000;
const MAX_DEPTH = 12;

/**
 * Path of a container's cgroup below every hierarchy's folder, or null. The hint of the environment and what
 * `/proc/PID/cgroup` says are taken where they name the container and exist; else the tree is searched for it, as with a
 * private cgroup namespace, whose paths are relative.
 */
export function locateContainer(hierarchy: Hierarchy, files: ProcFiles, handle: Partial<Handle>): string | null {
  const { containerId } = handle;
  const paths = [handle.cgroup, ...pathsOfProcess(files, handle.pid)];
  if (containerId === undefined)
    return paths.map(absolute).find((path) => path !== null && path !== "/" && exists(hierarchy, path)) ?? null;
  const isIt = (name: string): boolean => isContainerFolder(name, containerId);
  return firstNamed(hierarchy, paths, isIt) ?? search(hierarchy, isIt);
}

/**
 * Path of a pod's cgroup, or null where the driver makes none. `near`: paths of its containers, whose parent it is; a
 * static pod's cgroup has the hash of its manifest for a UID.
 */
export function locatePod(
  hierarchy: Hierarchy,
  handle: Partial<Handle>,
  near: readonly (string | null)[],
): string | null {
  const isAnyPod = (name: string): boolean => parseCgroupIdentity(name).podUid !== null;
  const byContainer = firstNamed(
    hierarchy,
    near.map((path) => (path === null ? undefined : posix.dirname(path))),
    isAnyPod,
  );
  if (byContainer !== null) return byContainer;
  const { podUid } = handle;
  if (podUid === undefined) return null;
  const isIt = (name: string): boolean => isPodFolder(name, podUid);
  return firstNamed(hierarchy, [handle.cgroup], isIt) ?? search(hierarchy, isIt);
}

function pathsOfProcess(files: ProcFiles, pid: number | undefined): readonly string[] {
  if (pid === undefined) return [];
  const text = orNull(() => files.text(`${pid}/cgroup`));
  return text === null ? [] : processPaths(parseProcessCgroups(text));
}

/** The first of the paths that exists, cut behind its last name that `isIt` takes: a container may make cgroups of its own. */
function firstNamed(
  hierarchy: Hierarchy,
  paths: readonly (string | undefined)[],
  isIt: (name: string) => boolean,
): string | null {
  for (const path of paths.map(absolute)) {
    const names = path?.split("/") ?? [];
    const last = names.findLastIndex(isIt);
    if (last < 0) continue;
    const cut = names.slice(0, last + 1).join("/");
    if (exists(hierarchy, cut)) return cut;
  }
  return null;
}

/** A path that may be joined to a folder: absolute, without `..`; systemd's `slice:prefix:id` written out. */
function absolute(path: string | undefined): string | null {
  if (path === undefined) return null;
  const [slice, prefix, id, ...rest] = path.split(":");
  if (
    slice?.endsWith(".slice") &&
    prefix !== undefined &&
    id !== undefined &&
    rest.length === 0 &&
    !slice.includes("/")
  ) {
    return `${expandSlice(slice)}/${prefix}-${id}.scope`;
  }
  return path.startsWith("/") && !path.split("/").includes("..") ? path : null;
}

/** `a-b.slice` lies in `a.slice` (systemd.slice(5)). */
function expandSlice(slice: string): string {
  const parts = slice.slice(0, -".slice".length).split("-");
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("-")}.slice`).join("");
}

function exists(hierarchy: Hierarchy, path: string): boolean {
  return hierarchyFolders(hierarchy).some(
    (folder) => orNull(() => statSync(join(folder, path)).isDirectory()) === true,
  );
}

/** Breadth first through the most telling hierarchy, Kubernetes' folders before others. */
function search(hierarchy: Hierarchy, isIt: (name: string) => boolean): string | null {
  const [folder] = hierarchyFolders(hierarchy);
  if (folder === undefined) return null;
  let seen = 0;
  let level = [""];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const path of level) {
      for (const name of childFolders(join(folder, path))) {
        seen += 1;
        if (seen > MAX_FOLDERS) return null;
        if (isIt(name)) return `${path}/${name}`;
        next.push(`${path}/${name}`);
      }
    }
    level = next;
  }
  return null;
}

/** Names of the cgroups directly in a folder, sorted, those of Kubernetes first. */
export function childFolders(folder: string): readonly string[] {
  const names = orNull(() => {
    const found: string[] = [];
    const opened = opendirSync(folder);
    try {
      for (let entry = opened.readSync(); entry !== null && found.length < MAX_FOLDERS; entry = opened.readSync()) {
        if (entry.isDirectory()) found.push(entry.name);
      }
    } finally {
      opened.closeSync();
    }
    return found;
  });
  const rank = (name: string): number => (name.startsWith("kube") ? 0 : 1);
  return (names ?? []).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}
