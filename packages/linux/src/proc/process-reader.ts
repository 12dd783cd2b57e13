import type { MappedFiles, ProcessStatus } from "@trawler/plugin-api";
import { parseCommandLine } from "./command-line.ts";
import { isDenied, isGone, orNull, type ProcFiles } from "./files.ts";
import { parseProcessIo } from "./io.ts";
import { parseMappedFiles } from "./maps.ts";
import { type ProcessStat, parseProcessStat, TICKS_PER_SECOND } from "./stat.ts";
import { parseProcessStatus } from "./status.ts";

/** Enough to redact what stands behind the 4 KiB that are kept. */
const COMMAND_LINE_BYTES = 16 * 1024;
const MAX_DESCRIPTORS = 100_000;
/** Some 10,000 mappings: a process may have 65,530. */
const MAPS_BYTES = 1024 * 1024;

/** The cheap part: who a process is. Null where it has gone, or is hidden from us. */
export function readProcessStat(files: ProcFiles, pid: number): ProcessStat | null {
  const text = orNull(() => files.text(`${pid}/stat`));
  return text === null ? null : parseProcessStat(text);
}

/** A process is a subject's where the text of its `/proc/PID/cgroup` says so; without such a test every process is. */
export type Belongs = (cgroup: string) => boolean;

/**
 * Everything of one process that began as `stat` says. Null where it has gone meanwhile, where another one has its pid,
 * or where it is not the subject's: start time and cgroup are checked before and after.
 */
export async function readProcess(
  files: ProcFiles,
  stat: ProcessStat,
  options: {
    readonly bootTime: number;
    readonly mappedFiles: number;
    readonly belongs?: Belongs;
    readonly signal?: AbortSignal;
  },
): Promise<ProcessStatus | null> {
  const { pid } = stat;
  const cgroup = options.belongs === undefined ? null : orNull(() => files.text(`${pid}/cgroup`));
  if (options.belongs !== undefined && (cgroup === null || !options.belongs(cgroup))) return null;

  const statusText = orNull(() => files.text(`${pid}/status`));
  const ioText = orNull(() => files.text(`${pid}/io`));
  const executable = orNull(() => files.link(`${pid}/exe`));
  const workingDirectory = orNull(() => files.link(`${pid}/cwd`));
  const openFileDescriptors = orNull(() => countDescriptors(files, pid));
  const commandLine = await readCommandLine(files, pid, options.signal);
  const mappedFiles = options.mappedFiles > 0 ? await readMappedFiles(files, pid, options) : undefined;

  if (readProcessStat(files, pid)?.startTicks !== stat.startTicks) return null;
  if (cgroup !== null && orNull(() => files.text(`${pid}/cgroup`)) !== cgroup) return null;

  const status = parseProcessStatus(statusText ?? "");
  const io = parseProcessIo(ioText ?? "");
  return {
    pid,
    parentPid: stat.parentPid,
    startTicks: stat.startTicks,
    startedAt: new Date((options.bootTime + stat.startTicks / TICKS_PER_SECOND) * 1000).toISOString(),
    command: stat.command,
    commandLine,
    executable,
    workingDirectory,
    state: stat.state,
    userId: status.userId,
    threads: status.threads ?? stat.threads,
    cpuUser: stat.userTicks / TICKS_PER_SECOND,
    cpuSystem: stat.systemTicks / TICKS_PER_SECOND,
    memoryUsage: status.memoryUsage,
    memoryVirtual: status.memoryVirtual,
    openFileDescriptors,
    diskRead: io.read,
    diskWritten: io.written,
    containerPid: status.innermostPid,
    ...(mappedFiles === undefined ? {} : { mappedFiles }),
  };
}

async function readCommandLine(files: ProcFiles, pid: number, signal?: AbortSignal): Promise<readonly string[]> {
  try {
    const options = { maxBytes: COMMAND_LINE_BYTES, ...(signal === undefined ? {} : { signal }) };
    return parseCommandLine((await files.slowText(`${pid}/cmdline`, options)) ?? "");
  } catch (error) {
    if (isGone(error) || isDenied(error)) return [];
    throw error;
  }
}

async function readMappedFiles(
  files: ProcFiles,
  pid: number,
  { mappedFiles, signal }: { readonly mappedFiles: number; readonly signal?: AbortSignal },
): Promise<MappedFiles | null> {
  try {
    const options = { maxBytes: MAPS_BYTES, longLines: true, ...(signal === undefined ? {} : { signal }) };
    const text = await files.slowText(`${pid}/maps`, options);
    return text === null ? null : parseMappedFiles(text, mappedFiles);
  } catch (error) {
    if (isGone(error) || isDenied(error)) return null;
    throw error;
  }
}

/** Before Linux 6.2 the folder has no size: then its entries are counted. */
function countDescriptors(files: ProcFiles, pid: number): number {
  return files.size(`${pid}/fd`) || files.names(`${pid}/fd`, MAX_DESCRIPTORS).length;
}
