import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { guestPaths } from "./paths.ts";
import { readPod } from "./read-cgroups.ts";
import type { Crawl, GuestPod, Round } from "./result.ts";
import { deadline } from "./wait.ts";

/** `trawl once` from the bundle, as a user would start it. */
const crawl = (): Promise<Crawl> =>
  new Promise((resolve, reject) => {
    const args = ["once", "--config", join(guestPaths.data, "trawler.json"), "--environment", "kubernetes"];
    const child = spawn(process.execPath, [join(guestPaths.data, "trawl/trawl.js"), ...args, "--mode", "pod"], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: deadline,
      killSignal: "SIGKILL",
      env: { ...process.env, NODE_COMPILE_CACHE: join(guestPaths.data, "compiled") },
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });

/** Tries of one crawl: the agent's own deadlines are not meant for an emulated machine that has to wait for its turn. */
const attempts = 5;

/** Reads, crawls, reads again: what a frame says must lie between. */
export const crawlBracketed = async (pods: readonly GuestPod[]): Promise<Round> => {
  for (let attempt = 1; ; attempt++) {
    const before = pods.map(readPod);
    const made = await crawl();
    if (made.code === 0 || attempt === attempts) return { before, crawl: made, after: pods.map(readPod) };
  }
};

/** Waits, a minute at most, until a pod that only waits has taken the memory that it needs. */
export const settle = async (pod: GuestPod): Promise<void> => {
  const usage = (): number => Number(readPod(pod).cgroup.files["memory.current"]);
  let last = usage();
  for (let attempt = 0; attempt < 30; attempt++) {
    await sleep(2_000);
    const now = usage();
    if (Math.abs(now - last) <= last * 0.001) return;
    last = now;
  }
};
