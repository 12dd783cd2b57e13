import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../bin/trawl.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with the first group of the pattern once standard error holds it; rejects where the process ends before. */
  stderrMatch(pattern: RegExp): Promise<string>;
  stdoutMatch(pattern: RegExp): Promise<string>;
}

export interface SpawnOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  readonly script?: string;
  readonly cwd?: string;
}

/** Starts the command as a user does, with the Node that runs the tests. */
export function startTrawl(
  args: readonly string[],
  { env = {}, nodeArgs = [], script = BIN, cwd }: SpawnOptions = {},
): Running {
  const { TRAWLER_CONFIG: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [...nodeArgs, script, ...args], {
    env: { ...inherited, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const text = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
      for (const listener of listeners) listener();
    });
  }
  const { promise: ended, resolve } = Promise.withResolvers<Ended>();
  child.on("close", (code) => {
    resolve({ code, ...text });
    for (const listener of listeners) listener();
  });
  const match = (name: "stdout" | "stderr", pattern: RegExp): Promise<string> =>
    new Promise((found, fail) => {
      const look = (): void => {
        const result = pattern.exec(text[name]);
        if (result) found(result[1] ?? result[0]);
        else if (child.exitCode !== null)
          fail(new Error(`ended (${child.exitCode}) without ${pattern}:\n${text.stderr}`));
        else return;
        listeners.delete(look);
      };
      listeners.add(look);
      look();
    });
  return {
    child,
    ended,
    stderrMatch: (pattern) => match("stderr", pattern),
    stdoutMatch: (pattern) => match("stdout", pattern),
  };
}

export function trawl(args: readonly string[], options?: SpawnOptions): Promise<Ended> {
  return startTrawl(args, options).ended;
}
