import { existsSync, readdirSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tearDownDocker } from "./docker.ts";
import { TestbedError } from "./errors.ts";
import { removeChains } from "./iptables.ts";
import type { Layout } from "./layout.ts";
import { killContainers, removeControlGroups, removeNotes, taskIds, unmountBelow } from "./leftovers.ts";
import { withLock } from "./lock.ts";
import { outsidePaths, removeNodeBridge, restoreSysctls, unlinkSocket } from "./machine.ts";
import type { Progress } from "./progress.ts";
import { readSettings, type Settings } from "./settings.ts";
import { recordedNames, stopProcess } from "./supervise.ts";

const removeIfEmpty = (folder: string): void => {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeIfEmpty(join(folder, entry.name));
  try {
    rmdirSync(folder);
  } catch {
    // Something that is not ours is in it.
  }
};

/** Links to container logs that the kubelet made below /var/log. */
const removeLogLinks = (layout: Layout): void => {
  const folder = "/var/log/containers";
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink() && readlinkSync(path).startsWith(layout.podLogs)) rmSync(path);
  }
};

const cleanOutside = (layout: Layout, before: Settings["before"]): void => {
  removeLogLinks(layout);
  unlinkSocket(layout);
  const added = outsidePaths.filter((path) => !before.paths.includes(path) && existsSync(path));
  for (const path of added) {
    // The device manager keeps its socket and notes at a fixed place.
    if (path === "/var/lib/kubelet") rmSync(join(path, "device-plugins"), { recursive: true, force: true });
    if (path === "/var/lib/cni") rmSync(join(path, "results"), { recursive: true, force: true });
    if (path === "/run/containerd")
      for (const folder of ["s", "runc"]) rmSync(join(path, folder), { recursive: true, force: true });
    if (path === "/etc/docker/key.json") rmSync(path);
    removeIfEmpty(path);
  }
};

/** Ends what the testbed started, and leaves no mount, namespace, shim, process or rule of it. The cache stays. */
export const down = (layout: Layout, progress: Progress): Promise<void> =>
  withLock(layout.lockFile, async () => {
    if (!existsSync(layout.root)) {
      progress("nothing is up");
      return;
    }
    const before = readSettings(layout)?.before;
    if (existsSync(layout.docker)) progress("ending Docker");
    await tearDownDocker(layout);
    progress("stopping the processes");
    // First the kubelet, which would start again what is killed below.
    for (const name of ["kubelet", "apiserver"]) await stopProcess(layout, name);
    const rest = recordedNames(layout).filter((name) => name !== "containerd");
    await Promise.all(rest.map((name) => stopProcess(layout, name)));
    const containers = new Set<string>();
    const kill = async (): Promise<void> => {
      for (const id of taskIds(join(layout.containerd, "state"))) containers.add(id);
      await killContainers(containers, layout.root);
    };
    await kill();
    await stopProcess(layout, "containerd");
    // What containerd was about to start meanwhile.
    await kill();
    const stuck = await unmountBelow(layout.root);
    if (stuck.length > 0) throw new TestbedError(`Still mounted: ${stuck.join(", ")}`);
    progress("removing networks, control groups and files");
    await removeNodeBridge();
    removeControlGroups("kubepods");
    if (before !== undefined) {
      const failed = await removeChains(before.chains);
      if (failed !== undefined) progress(`iptables chains are left: ${failed}`);
      restoreSysctls(before);
      removeNotes(containers);
      cleanOutside(layout, before);
    }
    rmSync(layout.root, { recursive: true, force: true });
    progress("down");
  });
