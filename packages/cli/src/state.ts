import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";

/** Folder of the agent's state: the setting, else the system's for root, else the user's. */
export function stateFolder(setting: string | undefined, env: NodeJS.ProcessEnv, userId: number): string {
  if (setting !== undefined) return setting;
  if (userId === 0) return "/var/lib/trawler";
  return join(env["XDG_STATE_HOME"] ?? join(env["HOME"] ?? "/tmp", ".local", "state"), "trawler");
}

/** Makes a folder for this user alone. Throws TRAWLER_DENIED with the setting that mends it. */
export function makeStateFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new TrawlerError(
      "TRAWLER_DENIED",
      `the state folder ${folder} cannot be made (${errorCode(error) ?? errorMessage(error)}); name a writable one: --set state.folder=/path`,
      { cause: error },
    );
  }
}

interface Holder {
  readonly pid: number;
  /** Start time of that process in ticks after boot: a pid alone is used again. Null where /proc is not there. */
  readonly startTicks: string | null;
}

/**
 * Takes the folder for this process; throws TRAWLER_BUSY while another process that lives holds it. A lock whose process
 * has gone is taken over. Disposing gives it back.
 */
export function lockFolder(folder: string, pid: number = process.pid): Disposable {
  const path = join(folder, "trawl.lock");
  const own = JSON.stringify({ pid, startTicks: startTicks(pid) });
  for (let attempt = 0; attempt < 3; attempt++) {
    if (create(path, own)) {
      return {
        [Symbol.dispose]() {
          if (read(path) === own) rmSync(path, { force: true });
        },
      };
    }
    const found = read(path);
    const holder = found === null ? null : parseHolder(found);
    if (holder && holder.pid !== pid && isAlive(holder)) {
      throw new TrawlerError(
        "TRAWLER_BUSY",
        `another agent (process ${holder.pid}) holds the state folder ${folder}; stop it, or name another folder: --set state.folder=/path`,
      );
    }
    takeAway(path, found, pid);
  }
  throw new TrawlerError("TRAWLER_BUSY", `the lock ${path} changes hands all the time`);
}

/** Moves a stale lock aside before it is deleted: of two agents that both saw it, only one moves the one that it saw. */
function takeAway(path: string, seen: string | null, pid: number): void {
  const aside = `${path}.${pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = read(aside);
  if (moved === seen) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

function create(path: string, text: string): boolean {
  try {
    const descriptor = openSync(path, "wx", 0o600);
    writeSync(descriptor, text);
    closeSync(descriptor);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw new TrawlerError(
      "TRAWLER_DENIED",
      `the lock ${path} cannot be made (${errorCode(error) ?? errorMessage(error)})`,
      {
        cause: error,
      },
    );
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function parseHolder(text: string): Holder | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("pid" in value) || typeof value.pid !== "number") return null;
    const ticks = "startTicks" in value && typeof value.startTicks === "string" ? value.startTicks : null;
    return { pid: value.pid, startTicks: ticks };
  } catch {
    return null;
  }
}

function isAlive({ pid, startTicks: ticks }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== "EPERM") return false;
  }
  return ticks === null || startTicks(pid) === ticks;
}

function startTicks(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`);
  // The command in parentheses may hold anything: fields are counted behind its end.
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}
