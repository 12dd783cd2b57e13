import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Feature } from "@trawler/plugin-api";
import { busyboxImage, readTestbedState, run, startDocker, stopDocker, testbedUnsupported } from "@trawler/testbed";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crawlOnce } from "../src/agent.ts";
import { waitFor } from "../src/wait.ts";

/** The testbed's own runs with another driver. */
const DAEMON = "dockerd";

const reason = testbedUnsupported();
describe.skipIf(reason !== undefined)(
  reason === undefined ? "a stopped container of Docker's driver vfs" : `vfs (skipped: ${reason})`,
  () => {
    let folder = "";
    let daemon: ChildProcess;
    const docker = async (...args: readonly string[]): Promise<string> =>
      (await run("docker", ["-H", `unix://${folder}/docker.sock`, ...args])).stdout.trim();

    beforeAll(async () => {
      const wasUp = readTestbedState()?.docker !== undefined;
      const socket = await startDocker();
      folder = await mkdtemp(join(tmpdir(), "trawler-vfs-"));
      const archive = join(folder, "image.tar");
      await run("docker", ["-H", `unix://${socket}`, "save", "-o", archive, busyboxImage]);
      if (!wasUp) await stopDocker();
      const places = ["--data-root", "data", "--exec-root", "exec", "--pidfile", "pid"].map((one) =>
        one.startsWith("-") ? one : join(folder, one),
      );
      const network = ["--bridge", "none", "--iptables=false", "--ip6tables=false"];
      const args = [...places, ...network, "--host", `unix://${folder}/docker.sock`, "--storage-driver", "vfs"];
      daemon = spawn(DAEMON, args, { stdio: "ignore" });
      expect(await waitFor("the daemon", () => docker("info", "-f", "{{.Driver}}"))).toBe("vfs");
      await docker("load", "-i", archive);
    });
    afterAll(async () => {
      const ended = once(daemon, "exit");
      daemon.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true, force: true });
    });

    test("parity 058: its files are those that docker export writes, with what it changed before it ended", async () => {
      const script = "mkdir /srv && echo 'port = 1' > /srv/new.conf && ln -s new.conf /srv/link && rm /bin/wget";
      await docker(
        "run",
        "--name",
        "ended",
        "--network",
        "none",
        "--entrypoint",
        "/bin/sh",
        busyboxImage,
        "-c",
        script,
      );
      expect(await docker("inspect", "-f", "{{.State.Status}}", "ended")).toBe("exited");
      const id = await docker("inspect", "-f", "{{.Id}}", "ended");
      const root = await readFile(join(folder, "data/image/vfs/layerdb/mounts", id, "mount-id"), "utf8");
      const { frames, code, log } = await crawlOnce({
        pipeline: {
          environment: { host: {} },
          mode: { mountpoint: { path: join(folder, "data/vfs/dir", root) } },
        },
        crawlers: { file: { exclude: [] }, config: { files: ["/srv/*"] } },
      });
      expect(code, log).toBe(0);
      const features: readonly Feature[] = frames.flatMap((frame) => frame.features);
      const keys = (type: string): readonly string[] =>
        features.flatMap((one) => (one.type === type ? [one.key] : [])).sort();
      await docker("export", "-o", join(folder, "root.tar"), "ended");
      const { stdout } = await run("tar", ["-tf", join(folder, "root.tar")]);
      const exported = stdout
        .trim()
        .split("\n")
        .map((path) => `/${path.replace(/\/$/, "")}`);
      expect(keys("file")).toEqual(["/", ...exported].sort());
      expect(keys("file")).not.toContain("/bin/wget");
      expect(features.find(({ key, type }) => type === "config" && key === "/srv/new.conf")?.value).toMatchObject({
        content: "port = 1\n",
      });
    });
  },
);
