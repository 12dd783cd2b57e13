import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openStoreReader } from "../src/index.ts";
import { folder } from "./harness.ts";
import { numbers, oracle, script } from "./script.ts";

const CHILD = fileURLToPath(new URL("./crash-child.ts", import.meta.url));
const LENGTH = 2000;
const KILLS = 6;

/** Runs the child; kills it so many milliseconds after it is ready. True where it came to its end. */
function run(path: string, seed: number, killAfter: number | null): Promise<boolean> {
  const args = ["--conditions=@trawler/source", "--disable-warning=ExperimentalWarning", CHILD, path, `${seed}`];
  const child = spawn(process.execPath, [...args, `${LENGTH}`], { stdio: ["ignore", "pipe", "inherit"] });
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

test("B29, row 14: killed at random moments, every event counts once: no record lost, none doubled", {
  timeout: 120_000,
}, async () => {
  using place = folder();
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = numbers(seed);
  let kills = 0;
  while (kills < KILLS && !(await run(place.path, seed, random() * 80))) kills += 1;
  expect(await run(place.path, seed, null), `seed ${seed}`).toBe(true);
  using reader = openStoreReader(place.file("store.db"));
  const { records } = reader.query({ between: [0, 9e15], limit: 100_000 });
  const found = records.map(({ uid, updates, resourceVersion, end, exitCode }) => ({
    uid,
    updates,
    resourceVersion,
    gone: end !== null,
    exitCode,
  }));
  const expected = oracle(script(seed, LENGTH));
  expect(
    found.sort((a, b) => a.uid.localeCompare(b.uid)),
    `seed ${seed}, ${kills} kills`,
  ).toEqual(expected);
  expect(records.filter(({ end }) => end !== null && end.finalState !== "exact")).toEqual([]);
  expect(reader.position("pods")?.resourceVersion).toBe(String(LENGTH));
});
