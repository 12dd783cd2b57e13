import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { PostgresqlSettings, StoreReader } from "../src/index.ts";
import { numbers, oracle, script } from "./script.ts";

const CHILD = fileURLToPath(new URL("./crash-child.ts", import.meta.url));
const LENGTH = 2000;

/** Runs the child; kills it so many milliseconds after it is ready. True where it came to its end. */
function run(args: readonly string[], killAfter: number | null): Promise<boolean> {
  const flags = ["--conditions=@trawler/source", "--disable-warning=ExperimentalWarning", CHILD];
  const child = spawn(process.execPath, [...flags, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const first = said === "";
    said += chunk.toString("utf8");
    if (first && killAfter !== null) setTimeout(() => child.kill("SIGKILL"), killAfter);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      if (code === 0) resolve(said.includes("done"));
      else if (signal === "SIGKILL") resolve(false);
      else reject(new Error(`the child ended with ${code}: ${said}`));
    });
  });
}

export interface CrashRun {
  readonly seed: number;
  readonly kills: number;
}

/** A small collector, killed at most so many times at random moments, then let come to its end. Null = SQLite in the folder. */
export async function killAndFinish(
  path: string,
  most: number,
  postgresql: PostgresqlSettings | null,
): Promise<CrashRun> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = numbers(seed);
  const args = [path, `${seed}`, `${LENGTH}`, ...(postgresql === null ? [] : [JSON.stringify(postgresql)])];
  let kills = 0;
  while (kills < most && !(await run(args, random() * 80))) kills += 1;
  expect(await run(args, null), `seed ${seed}`).toBe(true);
  return { seed, kills };
}

/** Every event counts once: the records are those of the simple model. */
export async function expectNothingLost(reader: StoreReader, { seed, kills }: CrashRun): Promise<void> {
  const { records } = await reader.query({ between: [0, 9e15], limit: 100_000 });
  const found = records.map(({ uid, updates, resourceVersion, end, exitCode }) => ({
    uid,
    updates,
    resourceVersion,
    gone: end !== null,
    exitCode,
  }));
  expect(
    found.sort((a, b) => a.uid.localeCompare(b.uid)),
    `seed ${seed}, ${kills} kills`,
  ).toEqual(oracle(script(seed, LENGTH)));
  expect(records.filter(({ end }) => end !== null && end.finalState !== "exact")).toEqual([]);
  expect((await reader.position("pods"))?.resourceVersion).toBe(String(LENGTH));
}
