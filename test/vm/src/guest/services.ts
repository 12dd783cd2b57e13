import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { guestPaths } from "./paths.ts";

const logs = join(guestPaths.output, "log");
const path = `${guestPaths.containerd}:/usr/sbin:/usr/bin:/sbin:/bin`;

/** What a container runtime asks of its unit, so that containers outlive it in cgroups of their own. */
const delegated = ["Delegate=yes", "KillMode=process", "OOMScoreAdjust=-999", "TasksMax=infinity"];

const withSystemd = (name: string, command: string, args: readonly string[]): void => {
  const log = join(logs, `${name}.log`);
  const properties = [
    "LimitNOFILE=1048576",
    `StandardOutput=append:${log}`,
    `StandardError=append:${log}`,
    ...(name === "containerd" ? delegated : []),
  ];
  // etcd has a unit of its own from Debian's package.
  const unit = [`--unit=vm-${name}`, "--quiet", ...properties.flatMap((property) => ["-p", property])];
  const environment = ["-E", "HOME=/root", "-E", `PATH=${path}`];
  // Without --no-block it would wait until the unit has started, which the caller does by asking the service itself.
  execFileSync("systemd-run", ["--no-block", ...unit, ...environment, command, ...args], { stdio: "inherit" });
};

/** Starts one part of the node: as a unit where systemd is process 1, else as a child. Its log goes out with the result. */
export const startService = (name: string, command: string, args: readonly string[]): void => {
  mkdirSync(logs, { recursive: true });
  if (existsSync("/run/systemd/system")) {
    withSystemd(name, command, args);
    return;
  }
  const log = openSync(join(logs, `${name}.log`), "a");
  spawn(command, args, { stdio: ["ignore", log, log], detached: true, env: { HOME: "/root", PATH: path } });
};
