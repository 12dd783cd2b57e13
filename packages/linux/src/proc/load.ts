import { setImmediate } from "node:timers/promises";
import type { LoadFigures } from "@trawler/plugin-api";
import { orNull, type ProcFiles } from "./files.ts";
import { parseCount } from "./number.ts";
import { type ProcessStat, parseProcessStat } from "./stat.ts";

/** Tasks whose state is read: one file each. */
const MAX_TASKS = 4096;
/** Files read between two turns of the event loop. */
const TURN = 64;

/** `/proc/loadavg`: `0.20 0.18 0.12 2/345 6789`, averages, tasks that run and all of them. */
export function parseLoad(text: string): LoadFigures {
  const [average1, average5, average15, tasks] = text.trim().split(" ");
  const [running, total] = (tasks ?? "").split("/");
  return {
    average1: parseAverage(average1),
    average5: parseAverage(average5),
    average15: parseAverage(average15),
    running: parseCount(running),
    uninterruptible: null,
    total: parseCount(total),
  };
}

function parseAverage(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}\.\d{1,4}$/.test(text) ? Number(text) : null;
}

/** The tasks of some processes by their state. A task that ends meanwhile is not counted as running. */
export async function readTaskLoad(
  files: ProcFiles,
  stats: readonly ProcessStat[],
  signal: AbortSignal | undefined,
): Promise<LoadFigures> {
  const total = stats.reduce((sum, { threads }) => sum + threads, 0);
  const counts = { average1: null, average5: null, average15: null, total };
  if (total > MAX_TASKS) return { ...counts, running: null, uninterruptible: null };
  let running = 0;
  let uninterruptible = 0;
  let read = 0;
  for (const { pid, threads, state } of stats) {
    const states = threads === 1 ? [state] : taskStates(files, pid);
    running += states.filter((one) => one === "R").length;
    uninterruptible += states.filter((one) => one === "D").length;
    read += states.length;
    if (read < TURN) continue;
    read = 0;
    await setImmediate();
    signal?.throwIfAborted();
  }
  return { ...counts, running, uninterruptible };
}

function taskStates(files: ProcFiles, pid: number): readonly string[] {
  const tasks = orNull(() => files.names(`${pid}/task`, MAX_TASKS)) ?? [];
  return tasks.flatMap((task) => {
    const text = orNull(() => files.text(`${pid}/task/${task}/stat`));
    const stat = text === null ? null : parseProcessStat(text);
    return stat === null ? [] : [stat.state];
  });
}
