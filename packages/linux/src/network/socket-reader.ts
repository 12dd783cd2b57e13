import { setImmediate } from "node:timers/promises";
import type { SocketStatus } from "@trawler/plugin-api";
import { isDenied, isGone, orNull, type ProcFiles } from "../proc/files.ts";
import type { Belongs } from "../proc/process-reader.ts";
import type { SocketTables } from "./socket-tables.ts";
import { type SocketRow, uniqueSockets } from "./sockets.ts";

/** Links read in one call: of one process, and of all together. */
const LINKS_PER_PROCESS = 10_000;
const LINKS = 50_000;
/** Links read between two turns of the event loop. */
const TURN = 256;

export interface SocketSource {
  readonly tables: SocketTables;
  /** Processes whose sockets are attributed. */
  readonly pids: readonly number[];
  readonly belongs: Belongs | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Sockets of a namespace, and which of `pids` holds each. `attributed` is false where no `/proc/PID/fd` could be read. */
export async function readSockets(
  files: ProcFiles,
  source: SocketSource,
): Promise<{ readonly sockets: readonly SocketStatus[]; readonly attributed: boolean }> {
  const rows = await source.tables.rows();
  const { holders, attributed } = await readHolders(files, source, rows);
  return { sockets: uniqueSockets(rows.map((row) => ({ ...row, pid: holders.get(row.inode) ?? null }))), attributed };
}

async function readHolders(
  files: ProcFiles,
  source: SocketSource,
  rows: readonly SocketRow[],
): Promise<{ readonly holders: ReadonlyMap<number, number>; readonly attributed: boolean }> {
  const wanted = new Set(rows.map(({ inode }) => inode).filter((inode) => inode !== 0));
  const holders = new Map<number, number>();
  let denied = false;
  let attributed = false;
  let links = 0;
  for (const pid of source.pids) {
    if (holders.size === wanted.size || links >= LINKS) break;
    try {
      const names = files.names(`${pid}/fd`, Math.min(LINKS_PER_PROCESS, LINKS - links));
      const held = new Set<number>();
      for (const name of names) {
        links += 1;
        if (links % TURN === 0) await setImmediate();
        source.signal?.throwIfAborted();
        const inode = socketInode(orNull(() => files.link(`${pid}/fd/${name}`)));
        if (inode !== null && wanted.has(inode)) held.add(inode);
      }
      attributed = true;
      if (source.belongs !== undefined && !source.belongs(files.text(`${pid}/cgroup`))) continue;
      for (const inode of held) if (!holders.has(inode)) holders.set(inode, pid);
    } catch (error) {
      if (isDenied(error)) denied = true;
      else if (!isGone(error)) throw error;
    }
  }
  return { holders, attributed: attributed || !denied };
}

function socketInode(link: string | null): number | null {
  const digits = /^socket:\[(\d+)\]$/.exec(link ?? "")?.[1];
  return digits === undefined ? null : Number(digits);
}
