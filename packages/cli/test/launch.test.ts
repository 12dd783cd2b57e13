import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const launch = fileURLToPath(new URL("../src/launch.ts", import.meta.url));
/** Has every process say how it was started. */
const code = "console.error('started', process.pid, process.env.MALLOC_ARENA_MAX, ...process.execArgv)";
const tell = `--import=data:text/javascript,${encodeURIComponent(code).replaceAll("'", "%27")}`;

function start(...args: readonly string[]) {
  const { TRAWLER_LAUNCHED: _, ...env } = process.env;
  const { status, stderr, pid } = spawnSync(process.execPath, ["--conditions=@trawler/source", launch, ...args], {
    env: { ...env, NODE_OPTIONS: tell },
    encoding: "utf8",
  });
  const starts = stderr.split("\n").filter((line) => line.startsWith(`started ${pid} `));
  return { status, stderr, starts };
}

test("trawl run starts anew once, under the same pid, with the flags and settings that keep it small", () => {
  const { status, stderr, starts } = start("run", "--config", "/nonexistent.yaml");
  expect(starts).toHaveLength(2);
  expect(starts[1]).toMatch(/ 1 --max-semi-space-size=1 .*--expose-gc --conditions=@trawler\/source$/);
  expect(stderr).toContain("/nonexistent.yaml");
  expect(status).toBe(2);
});

test("any other command runs at once", () => {
  const { status, starts } = start("--version");
  expect(starts).toHaveLength(1);
  expect(status).toBe(0);
});
