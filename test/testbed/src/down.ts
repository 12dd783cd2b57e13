import { existsSync, readdirSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tearDownDocker } from "./docker.ts";
import { messageOf, TestbedError } from "./errors.ts";
import { removeChains } from "./iptables.ts";
import { adminKubeconfig, kubectlWith } from "./kubectl.ts";
import type { Layout } from "./layout.ts";
import { killContainers, removeControlGroups, removeNotes, taskIds, unmountBelow } from "./leftovers.ts";
import { withLock } from "./lock.ts";
import { outsidePaths, removeNodeBridge, restoreSysctls, unlinkSocket } from "./machine.ts";
import type { Progress } from "./progress.ts";
import { readSettings, type Settings } from "./settings.ts";
import { recordedNames, runningRecord, stopProcess } from "./supervise.ts";
import { waitUntil } from "./wait.ts";

/** Deletes all pods while the node can still do it in order: hooks, volumes, network. What stays is killed later. */
const deletePods = async (layout: Layout, progress: Progress): Promise<void> => {
  const running = (name: string): boolean => runningRecord(layout, name) !== undefined;
  await stopProcess(layout, "controller-manager");
  await stopProcess(layout, "scheduler");
  rmSync(layout.staticPods, { recursive: true, force: true });
  if (!["etcd", "containerd", "apiserver", "kubelet"].every(running)) return;
  progress("deleting the pods");
  const state = join(layout.containerd, "state");
  try {
    const args = ["delete", "pods", "--all", "--all-namespaces", "--grace-period=1", "--wait=false"];
    await kubectlWith(adminKubeconfig(layout), args, { deadline: 20_000 });
    await waitUntil("the pods to end", () => taskIds(state).length === 0, { deadline: 30_000 });
  } catch (error) {
    progress(`some pods are ended by force: ${messageOf(error)}`);
  }
};

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
    if (path === "/run/containerd") rmSync(join(path, "s"), { recursive: true, force: true });
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
    await deletePods(layout, progress);
    progress("stopping the processes");
    for (const name of ["kubelet", "apiserver"]) await stopProcess(layout, name);
    const rest = recordedNames(layout).filter((name) => name !== "containerd");
    await Promise.all(rest.map((name) => stopProcess(layout, name)));
    const containers = new Set(taskIds(join(layout.containerd, "state")));
    await killContainers(containers, layout.root);
    await stopProcess(layout, "containerd");
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
