import { parseCount, scaled } from "./number.ts";

/** `/proc/PID/status`, the fields that `stat` lacks. Bytes. */
export interface ProcessStatusFile {
  /** Thread group: the process that a thread belongs to. */
  readonly threadGroup: number | null;
  /** Effective user id, as the node's user namespace numbers it. */
  readonly userId: number | null;
  /** Resident memory; null for kernel threads. */
  readonly memoryUsage: number | null;
  readonly memoryVirtual: number | null;
  readonly threads: number | null;
  /** Pid in the innermost pid namespace; null where the process is in the reader's own. */
  readonly innermostPid: number | null;
}

/** Parses `/proc/PID/status`: looks up six of its sixty lines. */
export function parseProcessStatus(text: string): ProcessStatusFile {
  const number = (name: string, index: number): number | null => parseCount(values(text, name)[index]);
  const namespaces = values(text, "NSpid");
  return {
    threadGroup: number("Tgid", 0),
    userId: number("Uid", 1),
    memoryUsage: scaled(number("VmRSS", 0), 1024),
    memoryVirtual: scaled(number("VmSize", 0), 1024),
    threads: number("Threads", 0),
    innermostPid: namespaces.length > 1 ? parseCount(namespaces.at(-1)) : null,
  };
}

/** Words of the line that begins with a name. A process cannot forge one: the kernel escapes line ends in `Name`. */
function values(text: string, name: string): readonly string[] {
  const start = text.startsWith(`${name}:`) ? 0 : text.indexOf(`\n${name}:`) + 1;
  if (start === 0 && !text.startsWith(`${name}:`)) return [];
  const end = text.indexOf("\n", start);
  return text
    .slice(start + name.length + 1, end < 0 ? undefined : end)
    .trim()
    .split(/\s+/);
}
