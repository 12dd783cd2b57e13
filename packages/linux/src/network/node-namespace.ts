import { orNull, type ProcFiles } from "../proc/files.ts";
import { readProcessStat } from "../proc/process-reader.ts";

/** A process in the node's own network namespace, and that namespace as `/proc/PID/ns/net` names it. */
export interface NodeNamespace {
  readonly pid: number;
  readonly link: string;
}

/**
 * The node's network namespace: that of its first process, else (some machines guard that one even from root) of
 * kthreadd, whose namespaces are the kernel's first. Null where we may read neither.
 */
export function findNodeNamespace(files: ProcFiles): NodeNamespace | null {
  const found = known.get(files) ?? lookForIt(files);
  if (found !== null) known.set(files, found);
  return found;
}

/** Neither of the two ever changes its namespace. */
const known = new WeakMap<ProcFiles, NodeNamespace>();

function lookForIt(files: ProcFiles): NodeNamespace | null {
  for (const pid of [1, 2]) {
    if (pid === 2 && readProcessStat(files, pid)?.command !== "kthreadd") continue;
    const link = orNull(() => files.link(`${pid}/ns/net`));
    if (link !== null) return { pid, link };
  }
  return null;
}
