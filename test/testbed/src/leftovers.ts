import { readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { network } from "./pins.ts";
import { endProcess, type ProcessIdentity, signalProcess, startTimeOf } from "./process.ts";
import { run } from "./run.ts";

const list = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** Mount points below a folder, the deepest last mounted first; `text` is `/proc/self/mountinfo`. */
export const mountsBelow = (text: string, folder: string): string[] =>
  text
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .map((path) =>
      path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
    )
    .filter((path) => path === folder || path.startsWith(`${folder}/`))
    .reverse();

/** Unmounts everything below a folder, and answers what could not be. */
export const unmountBelow = async (folder: string): Promise<string[]> => {
  for (const path of mountsBelow(read("/proc/self/mountinfo"), folder)) {
    const plain = await run("umount", [path], { tolerate: true, deadline: 30_000 });
    if (plain.code !== 0) await run("umount", ["-l", path], { tolerate: true, deadline: 30_000 });
  }
  return mountsBelow(read("/proc/self/mountinfo"), folder);
};

const identify = (pid: number): ProcessIdentity | undefined => {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
};

const processesWhere = (matches: (pid: number) => boolean): ProcessIdentity[] =>
  list("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(matches)
    .map(identify)
    .filter((identity) => identity !== undefined);

/** Shims that serve a containerd whose socket or state lies below the folder. */
export const shimsBelow = (folder: string): ProcessIdentity[] =>
  processesWhere((pid) => {
    const [command = "", ...args] = read(`/proc/${pid}/cmdline`).split("\0");
    return command.includes("containerd-shim") && args.some((argument) => argument.startsWith(`${folder}/`));
  });

/** Processes in the control group of one of these containers. */
export const processesOf = (containers: ReadonlySet<string>): ProcessIdentity[] =>
  processesWhere((pid) =>
    read(`/proc/${pid}/cgroup`)
      .split("\n")
      .some((line) => line.split("/").some((part) => containers.has(part))),
  );

/** Identifiers of the containers that a containerd with this state folder has tasks for. */
export const taskIds = (state: string): string[] => {
  const tasks = join(state, "io.containerd.runtime.v2.task");
  return list(tasks).flatMap((namespace) => list(join(tasks, namespace)));
};

/** Kills containers that were left, then the shims below the root. */
export const killContainers = async (containers: ReadonlySet<string>, root: string): Promise<void> => {
  for (const identity of processesOf(containers)) signalProcess(identity, "SIGKILL");
  await Promise.all(shimsBelow(root).map((shim) => endProcess(shim, { grace: 3000 })));
  for (const identity of processesOf(containers)) await endProcess(identity, { signal: "SIGKILL" });
};

const removeEmpty = (folder: string): void => {
  for (const entry of list(folder)) {
    const path = join(folder, entry);
    // Only folders can be listed; the control files cannot.
    if (list(path).length > 0) removeEmpty(path);
  }
  try {
    rmdirSync(folder);
  } catch {
    // In use, or gone.
  }
};

/** Removes empty control groups of that name from every hierarchy; nothing but rmdir, so what is in use stays. */
export const removeControlGroups = (name: string, mounts = "/sys/fs/cgroup"): void => {
  for (const hierarchy of ["", ...list(mounts)]) {
    const folder = join(mounts, hierarchy, name);
    if (list(folder).length > 0) removeEmpty(folder);
  }
};

/** Removes what runc and the network plugins noted, outside the testbed's root, about these containers. */
export const removeNotes = (containers: ReadonlySet<string>): void => {
  const runtimes = "/run/containerd/runc";
  for (const namespace of list(runtimes))
    for (const id of list(join(runtimes, namespace)))
      if (containers.has(id)) rmSync(join(runtimes, namespace, id), { recursive: true, force: true });
  const results = "/var/lib/cni/results";
  for (const file of list(results)) {
    const ours = file.startsWith(`${network.name}-`) || file.split("-").some((part) => containers.has(part));
    if (ours) rmSync(join(results, file), { force: true });
  }
};
