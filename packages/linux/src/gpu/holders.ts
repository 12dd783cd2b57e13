import { setImmediate } from "node:timers/promises";
import { isDenied, isGone, orNull, type ProcFiles } from "../proc/files.ts";
import type { Belongs } from "../proc/process-reader.ts";

/** Links read in one call: of one process, and of all together. */
const LINKS_PER_PROCESS = 10_000;
const LINKS = 50_000;
/** Links read between two turns of the event loop. */
const TURN = 256;

export interface HolderOptions {
  readonly pids: readonly number[];
  readonly belongs: Belongs | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Which of `pids` hold each of `paths` open, by path; null where no `/proc/PID/fd` could be read. */
export async function readFileHolders(
  files: ProcFiles,
  paths: ReadonlySet<string>,
  { pids, belongs, signal }: HolderOptions,
): Promise<ReadonlyMap<string, readonly number[]> | null> {
  const holders = new Map<string, number[]>();
  let denied = false;
  let read = false;
  let links = 0;
  for (const pid of pids) {
    if (links >= LINKS) break;
    try {
      const names = files.names(`${pid}/fd`, Math.min(LINKS_PER_PROCESS, LINKS - links));
      const held = new Set<string>();
      for (const name of names) {
        links += 1;
        if (links % TURN === 0) await setImmediate();
        signal?.throwIfAborted();
        const path = orNull(() => files.link(`${pid}/fd/${name}`));
        if (path !== null && paths.has(path)) held.add(path);
      }
      read = true;
      if (belongs !== undefined && !belongs(files.text(`${pid}/cgroup`))) continue;
      for (const path of held) holders.set(path, [...(holders.get(path) ?? []), pid]);
    } catch (error) {
      if (isDenied(error)) denied = true;
      else if (!isGone(error)) throw error;
    }
  }
  return read || !denied ? holders : null;
}
