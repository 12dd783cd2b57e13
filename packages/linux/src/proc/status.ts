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

/** Parses `/proc/PID/status`. */
export function parseProcessStatus(text: string): ProcessStatusFile {
  const fields = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0)
      fields.set(
        line.slice(0, colon),
        line
          .slice(colon + 1)
          .trim()
          .split(/\s+/),
      );
  }
  const number = (name: string, index: number): number | null => parseCount(fields.get(name)?.[index]);
  const namespaces = fields.get("NSpid") ?? [];
  return {
    threadGroup: number("Tgid", 0),
    userId: number("Uid", 1),
    memoryUsage: scaled(number("VmRSS", 0), 1024),
    memoryVirtual: scaled(number("VmSize", 0), 1024),
    threads: number("Threads", 0),
    innermostPid: namespaces.length > 1 ? parseCount(namespaces.at(-1)) : null,
  };
}
