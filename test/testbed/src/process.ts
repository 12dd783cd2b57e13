import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { TestbedError } from "./errors.ts";
import { waitUntil } from "./wait.ts";

/** A process that cannot be mistaken for a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot, field 22 of `/proc/<pid>/stat`. */
  readonly startTime: string;
}

/** State letter and start time out of a line of `/proc/<pid>/stat`; the name in brackets may hold anything. */
export const parseStat = (text: string): { readonly state: string; readonly startTime: string } | undefined => {
  const fields = text
    .slice(text.lastIndexOf(")") + 1)
    .trim()
    .split(" ");
  const [state] = fields;
  const startTime = fields[19];
  return state === undefined || startTime === undefined ? undefined : { state, startTime };
};

/** The start time of a running process; `undefined` for none, and for a zombie. */
export const startTimeOf = (pid: number): string | undefined => {
  try {
    const stat = parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
    return stat === undefined || stat.state === "Z" || stat.state === "X" ? undefined : stat.startTime;
  } catch {
    return undefined;
  }
};

export const isAlive = ({ pid, startTime }: ProcessIdentity): boolean => startTimeOf(pid) === startTime;

export interface Daemon {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
}

/** Starts a process that outlives this one, in a session of its own, with its output appended to the log file. */
export const startDaemon = async ({ command, args, env, logFile }: Daemon): Promise<ProcessIdentity> => {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, "a");
  try {
    const child = spawn(command, args, { cwd: "/", env, detached: true, stdio: ["ignore", log, log] });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    child.unref();
    const startTime = child.pid === undefined ? undefined : startTimeOf(child.pid);
    if (child.pid === undefined || startTime === undefined)
      throw new TestbedError(`${command} ended at once; see ${logFile}`);
    return { pid: child.pid, startTime };
  } finally {
    closeSync(log);
  }
};

/** Sends a signal only if the pid is still that process. */
export const signalProcess = (identity: ProcessIdentity, signal: NodeJS.Signals): void => {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // It ended between the check and the signal.
  }
};

/** Ends a process: `signal`, and after `grace` milliseconds SIGKILL. */
export const endProcess = async (
  identity: ProcessIdentity,
  { signal = "SIGTERM", grace = 10_000 }: { readonly signal?: NodeJS.Signals; readonly grace?: number } = {},
): Promise<void> => {
  signalProcess(identity, signal);
  const gone = (): boolean => !isAlive(identity);
  try {
    await waitUntil(`pid ${identity.pid} to end`, gone, { deadline: grace, every: 50 });
  } catch {
    signalProcess(identity, "SIGKILL");
    await waitUntil(`pid ${identity.pid} to die`, gone, { deadline: 10_000, every: 50 });
  }
};
