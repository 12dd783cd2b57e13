import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Which failed, a line each: where, what, and the first line of why. */
  readonly failures: readonly string[];
}

export const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };

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
    return await count(project, report, code);
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
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    failures: [...a.failures, ...b.failures],
  };
}

/** Prints what failed once more, as a log of thousands of lines hides it, then the counts; and sets the exit code. */
export function conclude({ passed, failed, skipped, failures }: Counts): void {
  console.log("");
  for (const failure of failures) console.log(`FAILED ${failure}`);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

/** What of Vitest's JSON report is read. */
interface Report {
  readonly numPassedTests: number;
  readonly numPendingTests: number;
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

async function count(project: string, report: string, code: number): Promise<Counts> {
  const text = await readFile(report, "utf8").catch(() => "");
  if (text === "") return { ...NOTHING, failed: 1, failures: [`${project}: ended with ${code} and without a report`] };
  const { numPassedTests, numPendingTests, success, testResults } = JSON.parse(text) as Report;
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const tests = assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages = [] }) => `${file}: ${fullName}: ${firstLine(failureMessages.join("\n"))}`);
    return tests.length === 0 && status === "failed" ? [`${file}: ${firstLine(message)}`] : tests;
  });
  // An error outside of any test fails the run without a failed test or file.
  if ((code !== 0 || !success) && failures.length === 0)
    failures.push(`${project}: ended with ${code}: an error outside of any test`);
  return { passed: numPassedTests, failed: failures.length, skipped: numPendingTests, failures };
}

const firstLine = (text: string): string => text.trim().split("\n", 1)[0] ?? "";
