import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./errors.ts";
import { isAlive, startTimeOf } from "./process.ts";
import { waitUntil } from "./wait.ts";

const owner = (path: string): { pid: number; startTime: string } | undefined => {
  try {
    const [pid, startTime] = readFileSync(path, "utf8").trim().split(" ");
    return pid === undefined || startTime === undefined ? undefined : { pid: Number(pid), startTime };
  } catch {
    return undefined;
  }
};

const take = (path: string): boolean => {
  try {
    writeFileSync(path, `${process.pid} ${startTimeOf(process.pid) ?? "0"}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    const other = owner(path);
    // Whoever held it has died.
    if (other !== undefined && !isAlive(other)) rmSync(path, { force: true });
    return false;
  }
};

/** Runs a step while no other process of this machine changes the testbed. */
export const withLock = async <T>(path: string, step: () => Promise<T>): Promise<T> => {
  mkdirSync(dirname(path), { recursive: true });
  await waitUntil(`the lock ${path}`, () => take(path), { deadline: 50 * 60_000 });
  try {
    return await step();
  } finally {
    rmSync(path, { force: true });
  }
};
