import { setImmediate } from "node:timers/promises";
import { type SocketStatus, TrawlerError } from "@trawler/plugin-api";
import { isDenied, isGone, orNull, type ProcFiles } from "../proc/files.ts";
import type { Belongs } from "../proc/process-reader.ts";
import { parseSockets, SOCKET_TABLES, type SocketRow, uniqueSockets } from "./sockets.ts";

const TABLE_BYTES = 8 * 1024 * 1024;
const TABLE_ROWS = 50_000;
/** Links read in one call: of one process, and of all together. */
const LINKS_PER_PROCESS = 10_000;
const LINKS = 50_000;
/** Links read between two turns of the event loop. */
const TURN = 256;

export interface SocketSource {
  /** Processes whose sockets are attributed. */
  readonly pids: readonly number[];
  /** Processes whose network namespace is read, best first. */
  readonly namespacePids: readonly number[];
  readonly belongs: Belongs | undefined;
  /** As `belongs`, for `namespacePids`. */
  readonly namespaceBelongs: Belongs | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Sockets of a namespace, and which of `pids` holds each. `attributed` is false where no `/proc/PID/fd` could be read. */
export async function readSockets(
  files: ProcFiles,
  source: SocketSource,
): Promise<{ readonly sockets: readonly SocketStatus[]; readonly attributed: boolean }> {
  const rows = await readTables(files, source);
  const { holders, attributed } = await readHolders(files, source, rows);
  return { sockets: uniqueSockets(rows.map((row) => ({ ...row, pid: holders.get(row.inode) ?? null }))), attributed };
}

/** The tables of the first process that still lives when they have been read. */
async function readTables(files: ProcFiles, source: SocketSource): Promise<readonly SocketRow[]> {
  for (const pid of source.namespacePids) {
    const rows: SocketRow[] = [];
    let found = false;
    for (const table of SOCKET_TABLES) {
      const text = await readTable(files, `${pid}/net/${table}`, source.signal);
      if (text === null) continue;
      found = true;
      rows.push(...parseSockets(text, table, TABLE_ROWS - rows.length));
    }
    // A process that ends takes `net` with it; one that merely has no IPv6 lacks `tcp6` alone.
    const cgroup = orNull(() => files.text(`${pid}/cgroup`));
    if (found && cgroup !== null && source.namespaceBelongs?.(cgroup) !== false) return rows;
  }
  throw new TrawlerError("TRAWLER_GONE", "no process of the network namespace runs any more");
}

async function readTable(files: ProcFiles, path: string, signal: AbortSignal | undefined): Promise<string | null> {
  try {
    return await files.slowText(path, { maxBytes: TABLE_BYTES, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (isGone(error) || isDenied(error)) return null;
    throw error;
  }
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
