import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crawlBracketed, settle } from "./crawl.ts";
import { startNode } from "./node.ts";
import { guestPaths } from "./paths.ts";
import type { GuestResult, Round } from "./result.ts";

// The program of the guest: node up, three crawls, result out. It runs bundled, on the Node of the data disk.

const readFirst = (path: string): string => readFileSync(path, "utf8").trim();
const say = (line: string): void => console.log(`VM ${process.uptime().toFixed(1)} s  ${line}`);

const work = async (): Promise<void> => {
  say("starting the node");
  const pods = await startNode(say);
  say("the pods are ready");
  const idle = pods.find(({ metadata }) => metadata.labels?.["load"] === "none");
  if (idle !== undefined) await settle(idle);
  const rounds: Round[] = [];
  for (let round = 1; round <= 3; round++) {
    rounds.push(await crawlBracketed(pods));
    say(`crawl ${round} ended with ${rounds.at(-1)?.crawl.code}`);
  }
  const result: GuestResult = {
    driver: readFirst(join(guestPaths.data, "driver")),
    init: readFirst("/proc/1/comm"),
    kernel: readFirst("/proc/sys/kernel/osrelease"),
    controllers: readFirst("/sys/fs/cgroup/cgroup.controllers"),
    pods,
    rounds,
  };
  writeFileSync(join(guestPaths.output, "result.json"), JSON.stringify(result));
};

mkdirSync(guestPaths.output, { recursive: true });
try {
  await work();
} catch (error) {
  const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
  say(`failed: ${failure}`);
  writeFileSync(join(guestPaths.output, "failure.txt"), failure);
}
execFileSync("tar", ["-C", guestPaths.output, "-cf", guestPaths.outputDisk, "."]);
execFileSync("sync");
// Services that were started as children would keep this process.
process.exit();
