import { constants, fstatSync, openSync, statSync } from "node:fs";
import { errorCode, TrawlerError } from "@trawler/plugin-api";
import { closeQuietly, descriptorPath, O_PATH } from "./descriptor.ts";
import { readBounded } from "./mounts.ts";

/** Which process is meant: a pid alone is used again, with its start time it is not. */
export interface ProcessIdentity {
  /** As numbered by the /proc that `procRoot` names. */
  readonly pid: number;
  /** Where that /proc is mounted, such as `/proc` or `/host/proc`. */
  readonly procRoot: string;
  /** Field 22 of `/proc/PID/stat`; absent = whoever has the pid now. */
  readonly startTicks?: number;
}

/** State letter and start time in the text of `/proc/PID/stat`. proc_pid_stat(5); `comm` may hold anything. */
export function parseIdentity(stat: string): { readonly state: string; readonly startTicks: number } | null {
  const end = stat.lastIndexOf(")");
  if (end === -1) return null;
  const fields = stat.slice(end + 2).split(" ");
  const startTicks = Number(fields[19]);
  return fields[0] === undefined || !Number.isSafeInteger(startTicks) ? null : { state: fields[0], startTicks };
}

/**
 * One process held by a descriptor of its /proc folder. Such a descriptor stays with the process: once that has ended,
 * every path below it fails, even if the pid is used again.
 */
export class ProcessFolder implements Disposable {
  readonly descriptor: number;
  readonly path: string;
  #open = true;

  /** Throws TRAWLER_GONE where the process has ended or is another one, TRAWLER_DENIED where /proc hides it. */
  constructor(identity: ProcessIdentity) {
    const { pid, procRoot, startTicks } = identity;
    if (!Number.isSafeInteger(pid) || pid <= 0) throw new TrawlerError("TRAWLER_GONE", `no process ${pid}`);
    try {
      this.descriptor = openSync(`${procRoot}/${pid}`, O_PATH | constants.O_DIRECTORY);
    } catch (error) {
      throw processError(error, pid);
    }
    this.path = descriptorPath(this.descriptor);
    const found = this.#identity();
    if (found === null || !isAlive(found.state) || (startTicks !== undefined && found.startTicks !== startTicks)) {
      this[Symbol.dispose]();
      throw new TrawlerError("TRAWLER_GONE", `process ${pid} has ended`);
    }
  }

  /** Whether the process still runs. */
  alive(): boolean {
    const found = this.#open ? this.#identity() : null;
    return found !== null && isAlive(found.state);
  }

  #identity(): { readonly state: string; readonly startTicks: number } | null {
    try {
      return parseIdentity(readBounded(`${this.path}/stat`, 4096));
    } catch {
      return null;
    }
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    closeQuietly(this.descriptor);
  }
}

/** An error of reaching into `/proc/PID`, coded. */
export function processError(error: unknown, pid: number): TrawlerError {
  if (error instanceof TrawlerError) return error;
  const code = errorCode(error);
  if (code === "EACCES" || code === "EPERM") {
    return new TrawlerError("TRAWLER_DENIED", `process ${pid}: access denied; reading its root takes CAP_SYS_PTRACE`);
  }
  if (code === "ENOENT" || code === "ESRCH" || code === "EINVAL") {
    return new TrawlerError("TRAWLER_GONE", `process ${pid} has ended`);
  }
  if (code === "EMFILE" || code === "ENFILE") {
    return new TrawlerError("TRAWLER_LIMIT", `process ${pid}: too many open files`);
  }
  return new TrawlerError("TRAWLER_PLUGIN_FAILED", `process ${pid} cannot be opened (${code ?? "unknown"})`);
}

function isAlive(state: string): boolean {
  return state !== "Z" && state !== "X" && state !== "x";
}

/**
 * Whether an open root is also that of the node's first process. Where that one is hidden, it is compared with our own
 * root, which is the node's unless we run in a container.
 */
export function isNodeRoot(root: number, procRoot: string): boolean {
  const member = fstatSync(root, { bigint: true });
  for (const path of [`${procRoot}/1/root/.`, "/"]) {
    try {
      const node = statSync(path, { bigint: true });
      return node.dev === member.dev && node.ino === member.ino;
    } catch {
      // Hidden from us.
    }
  }
  return false;
}
