import { spawn } from "node:child_process";
import { TestbedError } from "./errors.ts";

export interface RunOptions {
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Milliseconds; the command is killed after it. Default one minute. */
  readonly deadline?: number;
  /** Answer a failed exit instead of throwing. */
  readonly tolerate?: boolean;
}

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const outputLimit = 64 * 1024 * 1024;
const tail = (text: string): string => text.trim().slice(-2000);

/** Runs a command without a shell and answers what it printed. */
export const run = (command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> => {
  const { input, cwd, env = process.env, deadline = 60_000, tolerate = false } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...(cwd === undefined ? {} : { cwd }), env, stdio: "pipe" });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let size = 0;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, deadline);
    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length;
      if (size <= outputLimit) into.push(chunk);
    };
    child.stdout.on("data", collect(out));
    child.stderr.on("data", collect(err));
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(new TestbedError(`${command}: ${error.message}`));
    });
    child.on("close", (status) => {
      clearTimeout(timer);
      const result = {
        code: status ?? -1,
        stdout: Buffer.concat(out).toString(),
        stderr: Buffer.concat(err).toString(),
      };
      const line = [command, ...args].join(" ").slice(0, 300);
      if (late) reject(new TestbedError(`"${line}" did not end within ${deadline / 1000} s`));
      else if (status !== 0 && !tolerate)
        reject(new TestbedError(`"${line}" ended with ${status}:\n${tail(result.stderr || result.stdout)}`));
      else resolve(result);
    });
  });
};
