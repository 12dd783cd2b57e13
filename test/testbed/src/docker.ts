import { rmSync } from "node:fs";
import { join } from "node:path";
import { dockerArgs } from "./components-docker.ts";
import { type Layout, layoutFrom } from "./layout.ts";
import { killContainers, removeControlGroups, taskIds, unmountBelow } from "./leftovers.ts";
import { withLock } from "./lock.ts";
import { removeDockerBridge } from "./machine.ts";
import { type Progress, progressOnStderr } from "./progress.ts";
import { run } from "./run.ts";
import { readSettings, writeSettings } from "./settings.ts";
import { runningRecord, stopProcess } from "./supervise.ts";
import { up } from "./up.ts";

const removeContainers = async (layout: Layout): Promise<void> => {
  if (runningRecord(layout, "dockerd") === undefined) return;
  const docker = (...args: string[]) =>
    run("docker", [...dockerArgs(layout), ...args], { tolerate: true, deadline: 60_000 });
  const ids = (await docker("ps", "-aq")).stdout.split("\n").filter((id) => id !== "");
  if (ids.length > 0) await docker("rm", "-f", ...ids);
};

/** Ends Docker and all that it left: containers, shims, mounts, bridge, control groups, files. */
export const tearDownDocker = async (layout: Layout): Promise<void> => {
  await removeContainers(layout);
  await stopProcess(layout, "dockerd");
  await killContainers(new Set(taskIds(join(layout.docker, "containerd-state"))), layout.docker);
  await stopProcess(layout, "docker-containerd");
  await unmountBelow(layout.docker);
  await removeDockerBridge();
  removeControlGroups("docker");
  rmSync(layout.docker, { recursive: true, force: true });
};

/** Adds a Docker Engine to the testbed and answers its socket. Other parts are brought up as they were chosen before. */
export const startDocker = async (progress: Progress = progressOnStderr()): Promise<string> => {
  const layout = layoutFrom(process.env);
  const alone = readSettings(layout) === undefined ? { kubernetes: false, brokers: 0 } : {};
  await up(layout, { ...alone, docker: true }, progress);
  return layout.dockerSocket;
};

/** Takes the Docker Engine away again; the other parts stay. */
export const stopDocker = (): Promise<void> => {
  const layout = layoutFrom(process.env);
  return withLock(layout.lockFile, async () => {
    const settings = readSettings(layout);
    if (settings === undefined) return;
    await tearDownDocker(layout);
    writeSettings(layout, { ...settings, docker: false });
  });
};
