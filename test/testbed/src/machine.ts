import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { readChains } from "./iptables.ts";
import type { Layout } from "./layout.ts";
import { network } from "./pins.ts";
import { run } from "./run.ts";
import type { Settings } from "./settings.ts";

/** Kernel settings that the bridge plugin and the kubelet change. */
const sysctls = [
  "net/ipv4/ip_forward",
  "vm/overcommit_memory",
  "vm/panic_on_oom",
  "kernel/panic",
  "kernel/panic_on_oops",
  "kernel/keys/root_maxkeys",
  "kernel/keys/root_maxbytes",
];

const sysctlFile = (name: string): string => `/proc/sys/${name}`;
const readSysctl = (name: string): string => readFileSync(sysctlFile(name), "utf8").trim();

/** The kubelet's monitoring finds containerd only here. */
export const wellKnownSocket = "/run/containerd/containerd.sock";

/** Folders that node software makes outside the testbed's root; `down` removes those that were not there before. */
export const outsidePaths = [
  "/run/containerd",
  "/run/nri",
  "/var/lib/cni",
  "/var/lib/kubelet",
  "/var/log/containers",
  "/var/log/pods",
  "/run/docker",
  "/run/flannel",
  "/run/runc",
  "/etc/docker/key.json",
  "/opt/containerd",
  "/opt/cni",
  "/usr/libexec/kubernetes",
];

/** How the machine is now, so that `down` can leave it so. */
export const machineBefore = async (): Promise<Settings["before"]> => ({
  sysctls: Object.fromEntries(
    sysctls.filter((name) => existsSync(sysctlFile(name))).map((name) => [name, readSysctl(name)]),
  ),
  paths: outsidePaths.filter((path) => existsSync(path)),
  chains: await readChains(),
});

export const restoreSysctls = (before: Settings["before"]): void => {
  for (const [name, value] of Object.entries(before.sysctls))
    if (readSysctl(name) !== value) writeFileSync(sysctlFile(name), value);
};

const ensureBridge = async (name: string, address: string): Promise<void> => {
  if (!existsSync(`/sys/class/net/${name}`)) await run("ip", ["link", "add", name, "type", "bridge"]);
  const { stdout } = await run("ip", ["-o", "-4", "address", "show", "dev", name]);
  if (!stdout.includes(` ${address} `)) await run("ip", ["address", "add", address, "dev", name]);
  await run("ip", ["link", "set", name, "up"]);
};

export const ensureNodeBridge = (): Promise<void> => ensureBridge(network.bridge, `${network.address}/24`);
export const ensureDockerBridge = (): Promise<void> => ensureBridge(network.dockerBridge, network.dockerAddress);

const removeBridge = async (name: string): Promise<void> => {
  if (existsSync(`/sys/class/net/${name}`)) await run("ip", ["link", "delete", name]);
};

export const removeNodeBridge = (): Promise<void> => removeBridge(network.bridge);
export const removeDockerBridge = (): Promise<void> => removeBridge(network.dockerBridge);

const linkTarget = (path: string): string | undefined => {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
};

/** Links the well-known socket path to ours where nothing is there. */
export const linkSocket = (layout: Layout): void => {
  const target = linkTarget(wellKnownSocket);
  if (target === layout.containerdSocket || (target === undefined && existsSync(wellKnownSocket))) return;
  if (target !== undefined && existsSync(wellKnownSocket)) return;
  mkdirSync("/run/containerd", { recursive: true });
  rmSync(wellKnownSocket, { force: true });
  symlinkSync(layout.containerdSocket, wellKnownSocket);
};

export const unlinkSocket = (layout: Layout): void => {
  if (linkTarget(wellKnownSocket) === layout.containerdSocket) rmSync(wellKnownSocket, { force: true });
};
