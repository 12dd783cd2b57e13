import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CgroupReading, GuestPod, PodReading } from "./result.ts";

const root = "/sys/fs/cgroup";
const names = ["cpu.stat", "memory.current", "memory.stat", "io.stat", "pids.current"];

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};

const foldersIn = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/** The cgroup of a pod, found by its name alone, whoever made it and whatever its class. */
const findPod = (uid: string): string | undefined => {
  const wanted = [uid, uid.replaceAll("-", "_")];
  const search = (path: string, depth: number): string | undefined => {
    for (const name of foldersIn(path)) {
      if (wanted.some((each) => name.endsWith(`pod${each}`) || name.endsWith(`pod${each}.slice`)))
        return join(path, name);
      const below = depth > 0 ? search(join(path, name), depth - 1) : undefined;
      if (below !== undefined) return below;
    }
    return undefined;
  };
  for (const name of foldersIn(root)) {
    const found = name.startsWith("kubepods") ? search(join(root, name), 2) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
};

const readCgroup = (path: string): CgroupReading => {
  const files: Record<string, string> = {};
  for (const name of names) {
    const text = readText(join(path, name));
    if (text !== undefined) files[name] = text;
  }
  return { path: path.slice(root.length), files };
};

/** A static pod's cgroup carries the hash of its manifest instead of the uid of its mirror. */
export const cgroupName = ({ metadata }: GuestPod): string =>
  metadata.annotations?.["kubernetes.io/config.hash"] ?? metadata.uid;

/** Reads what the kernel says of one pod now. This is the oracle: it shares no code with the agent. */
export const readPod = (pod: GuestPod): PodReading => {
  const path = findPod(cgroupName(pod));
  if (path === undefined) throw new Error(`no cgroup of pod ${pod.metadata.name}`);
  const children = foldersIn(path);
  const pids = children.flatMap((name) => (readText(join(path, name, "cgroup.procs")) ?? "").split("\n"));
  const pid = pids.find((text) => text !== "");
  return {
    uid: pod.metadata.uid,
    cgroup: readCgroup(path),
    children: Object.fromEntries(children.map((name) => [name, readCgroup(join(path, name))])),
    interfaces: (pid === undefined ? undefined : readText(`/proc/${pid}/net/dev`)) ?? "",
  };
};
