import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Runs one Vitest project with the given Node and returns what it counted; a run that crashes counts as one failure. */
export async function runProject(project: string, node = process.execPath): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), "trawler-test-"));
  const report = join(folder, "report.json");
  try {
    const code = await run(node, [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--project",
      project,
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
    ]);
    return await count(report, code);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a program with our own output; resolves with its exit code. */
export function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"], env });
    child.on("error", (error) => {
      console.error(`${command}: ${error.message}`);
      resolve(127);
    });
    child.on("exit", (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });
}

export function add(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

async function count(report: string, code: number): Promise<Counts> {
  const text = await readFile(report, "utf8").catch(() => "");
  if (text === "") return { passed: 0, failed: 1, skipped: 0 };
  const { numPassedTests, numFailedTests, numPendingTests, success } = JSON.parse(text) as Record<string, number> & {
    success: boolean;
  };
  const failed = numFailedTests ?? 0;
  // A file that does not load, or an error outside any test, fails the run without a failed test.
  const outside = (code !== 0 || !success) && failed === 0 ? 1 : 0;
  return { passed: numPassedTests ?? 0, failed: failed + outside, skipped: numPendingTests ?? 0 };
}
