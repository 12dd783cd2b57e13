import { setImmediate } from "node:timers/promises";
import {
  type ProcessAccess,
  type ProcessStatus,
  type SocketStatus,
  TrawlerError,
  unsupported,
} from "@trawler/plugin-api";
import { readGpus } from "../gpu/read.ts";
import { readSockets } from "../network/socket-reader.ts";
import type { SocketTables } from "../network/socket-tables.ts";
import { parseDisks } from "./diskstats.ts";
import { parseEnvironmentNames } from "./environ.ts";
import { isDenied, isGone, orNull, type ProcFiles } from "./files.ts";
import { parseLoad, readTaskLoad } from "./load.ts";
import { type Belongs, readProcess, readProcessStat } from "./process-reader.ts";
import type { ProcessStat } from "./stat.ts";

const DEFAULT_PROCESSES = 200;
const DEFAULT_SOCKETS = 2000;
const ENVIRONMENT_BYTES = 2 * 1024 * 1024;
const DISKSTATS_BYTES = 1024 * 1024;
/** Files read between two turns of the event loop. */
const TURN = 64;

export interface ProcessAccessOptions {
  readonly files: ProcFiles;
  /** The node's `/sys`; without it nothing is known of its devices. */
  readonly system?: ProcFiles;
  /** Boot time in seconds since the epoch. */
  readonly bootTime: () => number;
  /** The subject's processes now. Throws TRAWLER_GONE where it has ended. */
  readonly pids: () => readonly number[];
  /** Tells by `/proc/PID/cgroup` whether a process is the subject's; absent for the host, whose every process is. */
  readonly belongs?: Belongs;
  /** The first process, where it is known; else the oldest one counts as such. */
  readonly firstPid?: number;
  /** Sockets of its network namespace. */
  readonly tables: SocketTables;
  /** The namespace is the node's: then only sockets that the subject's own processes hold are its. */
  readonly hostNetwork: () => boolean;
}

/** Processes and sockets of one subject, by `/proc` alone. */
export function openProcessAccess(options: ProcessAccessOptions): ProcessAccess {
  return {
    commands: async ({ signal } = {}) => {
      const stats = await readStats(options, signal);
      return stats.map(({ pid, command }) => ({ pid, command }));
    },
    processes: async ({ signal, max = DEFAULT_PROCESSES, mappedFiles = 0 } = {}) => {
      const stats = await readStats(options, signal);
      stats.sort((a, b) => b.residentPages - a.residentPages || a.pid - b.pid);
      const processes: ProcessStatus[] = [];
      let vanished = 0;
      for (const stat of stats) {
        if (processes.length >= max) break;
        signal?.throwIfAborted();
        const process = await readProcess(options.files, stat, {
          bootTime: options.bootTime(),
          mappedFiles,
          ...(options.belongs === undefined ? {} : { belongs: options.belongs }),
          ...(signal === undefined ? {} : { signal }),
        });
        if (process === null) vanished += 1;
        else processes.push(process);
      }
      return { processes, total: stats.length - vanished };
    },
    sockets: async ({ signal, max = DEFAULT_SOCKETS } = {}) => {
      const { sockets, attributed } = await readSockets(options.files, {
        tables: options.tables,
        pids: options.pids(),
        belongs: options.belongs,
        signal,
      });
      const held: readonly SocketStatus[] = options.hostNetwork() ? sockets.filter(({ pid }) => pid !== null) : sockets;
      return { sockets: held.slice(0, max), total: held.length, attributed };
    },
    environmentNames: async ({ signal } = {}) => {
      const first = await firstProcess(options, signal);
      return readEnvironmentNames(options.files, first, signal);
    },
    load: async ({ signal } = {}) => {
      // Averages are the host's: no namespace has its own.
      if (options.belongs === undefined) return parseLoad(orNull(() => options.files.text("loadavg")) ?? "");
      return readTaskLoad(options.files, await readStats(options, signal), signal);
    },
    disks: async () => {
      if (options.belongs !== undefined) throw unsupported("disks are the host's");
      return parseDisks(orNull(() => options.files.text("diskstats", DISKSTATS_BYTES)) ?? "");
    },
    gpus: async ({ signal } = {}) => {
      const { system, pids, belongs } = options;
      if (system === undefined) throw unsupported("nothing is known of the node's devices");
      return readGpus(options.files, { system, pids, belongs, signal });
    },
  };
}

async function readStats(options: ProcessAccessOptions, signal: AbortSignal | undefined): Promise<ProcessStat[]> {
  const stats: ProcessStat[] = [];
  for (const [index, pid] of options.pids().entries()) {
    if (index % TURN === TURN - 1) await setImmediate();
    signal?.throwIfAborted();
    const stat = readProcessStat(options.files, pid);
    if (stat !== null) stats.push(stat);
  }
  return stats;
}

async function firstProcess(options: ProcessAccessOptions, signal: AbortSignal | undefined): Promise<ProcessStat> {
  const stats = await readStats(options, signal);
  const named = stats.find(({ pid }) => pid === options.firstPid);
  const [oldest] = stats.sort((a, b) => a.startTicks - b.startTicks || a.pid - b.pid);
  const first = named ?? oldest;
  if (first === undefined) throw new TrawlerError("TRAWLER_GONE", "no process runs any more");
  return first;
}

async function readEnvironmentNames(
  files: ProcFiles,
  first: ProcessStat,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const path = `${first.pid}/environ`;
  try {
    const options = { maxBytes: ENVIRONMENT_BYTES, ...(signal === undefined ? {} : { signal }) };
    const text = await files.slowText(path, options);
    if (text === null) throw new TrawlerError("TRAWLER_RETRY", `/proc/${path} does not answer`);
    if (orNull(() => readProcessStat(files, first.pid))?.startTicks === first.startTicks) {
      return parseEnvironmentNames(text);
    }
  } catch (error) {
    if (isDenied(error)) throw new TrawlerError("TRAWLER_DENIED", `/proc/${path} is not readable`, { cause: error });
    if (!isGone(error)) throw error;
  }
  throw new TrawlerError("TRAWLER_GONE", `process ${first.pid} has ended`);
}
