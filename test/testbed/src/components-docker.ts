import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Component } from "./component.ts";
import { accepts } from "./http.ts";
import type { Layout } from "./layout.ts";
import { network } from "./pins.ts";
import { run } from "./run.ts";
import type { Settings } from "./settings.ts";

/** The system's own commands: the shim of the node's containerd is of another version. */
const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };

/** dockerd takes a containerd at the well-known socket, which is the node's: so it is given one of its own. */
const dockerContainerd = (layout: Layout): Component => {
  const config = join(layout.docker, "containerd.toml");
  const socket = join(layout.docker, "containerd.sock");
  const content = `version = 2
root = "${join(layout.docker, "containerd-root")}"
state = "${join(layout.docker, "containerd-state")}"
disabled_plugins = ["io.containerd.grpc.v1.cri"]

[grpc]
  address = "${socket}"

[plugins."io.containerd.internal.v1.opt"]
  path = "${join(layout.docker, "opt")}"
`;
  return {
    name: "docker-containerd",
    command: "/usr/bin/containerd",
    args: ["--config", config],
    env,
    files: new Map([[config, content]]),
    ready: () => accepts({ path: socket }),
    deadline: 60_000,
  };
};

export const dockerArgs = (layout: Layout): string[] => ["-H", `unix://${layout.dockerSocket}`];

const dockerd = (layout: Layout): Component => ({
  name: "dockerd",
  command: "/usr/sbin/dockerd",
  args: [
    `--data-root=${join(layout.docker, "data")}`,
    `--exec-root=${join(layout.docker, "exec")}`,
    `--pidfile=${join(layout.docker, "docker.pid")}`,
    `--containerd=${join(layout.docker, "containerd.sock")}`,
    `--host=unix://${layout.dockerSocket}`,
    `--bridge=${network.dockerBridge}`,
    "--iptables=false",
    "--ip6tables=false",
    "--ip-masq=false",
    // Containers outlive a restart of the daemon, as tests of a restarted Docker need.
    "--live-restore",
  ],
  env,
  prepare: async () => {
    mkdirSync(layout.docker, { recursive: true });
  },
  ready: async () =>
    (await run("docker", [...dockerArgs(layout), "version"], { tolerate: true, deadline: 20_000 })).code === 0,
  deadline: 90_000,
});

export const dockerComponents = (layout: Layout, settings: Settings): Component[] =>
  settings.docker ? [dockerContainerd(layout), dockerd(layout)] : [];
