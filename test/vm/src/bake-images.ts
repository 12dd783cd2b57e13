import { spawn } from "node:child_process";
import { mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, waitUntil } from "@trawler/testbed";

/** A containerd of our own without CRI: no network, no cgroup, only content and snapshots. */
const bakeConfig = (root: string, state: string, socket: string): string => `version = 3
root = "${root}"
state = "${state}"
disabled_plugins = [
  "io.containerd.grpc.v1.cri",
  "io.containerd.cri.v1.images",
  "io.containerd.cri.v1.runtime",
  "io.containerd.internal.v1.opt",
  "io.containerd.nri.v1.nri",
]
[grpc]
  address = "${socket}"
[ttrpc]
  address = "${socket}.ttrpc"
`;

/** Imports and unpacks the images into `root`, containerd's folder in the guest: unpacking there would take minutes. */
export const bakeImages = async (
  { binaries, archive, work }: { readonly binaries: string; readonly archive: string; readonly work: string },
  root: string,
): Promise<void> => {
  mkdirSync(work, { recursive: true });
  mkdirSync(root, { recursive: true });
  const socket = join(work, "s");
  const config = join(work, "config.toml");
  writeFileSync(config, bakeConfig(root, join(work, "state"), socket));
  const log = openSync(join(work, "log"), "w");
  const child = spawn(join(binaries, "containerd"), ["--config", config], { stdio: ["ignore", log, log] });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const ctr = (...args: string[]) => run(join(binaries, "ctr"), ["-a", socket, ...args], { deadline: 600_000 });
  try {
    await waitUntil("containerd to take images", async () => (await ctr("version")).code === 0, { deadline: 120_000 });
    await ctr("-n", "k8s.io", "images", "import", archive);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
};
