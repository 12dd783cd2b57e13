import { statSync } from "node:fs";
import { join } from "node:path";
import { TrawlerError } from "@trawler/plugin-api";
import { orNull, type ProcFiles } from "../proc/files.ts";
import { parseCount } from "../proc/number.ts";
import { parseProcessStatus } from "../proc/status.ts";
import { type Hierarchy, hierarchyFolders } from "./hierarchy.ts";
import { KeptFiles, type ReadBuffer } from "./kept-file.ts";
import { childFolders } from "./locate.ts";

/** As many processes, and cgroups below one cgroup, as are looked at. */
const MAX_PIDS = 32_768;
const MAX_FOLDERS = 1024;

/**
 * Pids of a cgroup and of those below it (systemd or a nested engine inside a container make some), rising. Throws
 * TRAWLER_GONE once it has been removed. Pids that our pid namespace does not see read as 0 and are left out.
 */
export function cgroupPids(
  hierarchy: Hierarchy,
  path: string,
  files: ProcFiles,
  buffer: ReadBuffer,
): readonly number[] {
  const [folder] = hierarchyFolders(hierarchy);
  if (folder === undefined) return [];
  const pids = new Set<number>();
  const folders = [join(folder, path)];
  for (let index = 0; index < Math.min(folders.length, MAX_FOLDERS); index += 1) {
    const current = folders[index];
    if (current === undefined) break;
    const found = readPids(current, files, buffer);
    if (found === null && index === 0) throw new TrawlerError("TRAWLER_GONE", `the cgroup ${path} has been removed`);
    for (const pid of found ?? []) if (pids.size < MAX_PIDS) pids.add(pid);
    // A folder without folders in it has two links, on file systems that count them.
    if (orNull(() => statSync(current).nlink) === 2) continue;
    folders.push(...childFolders(current).map((name) => join(current, name)));
  }
  return [...pids].sort((a, b) => a - b);
}

/** `cgroup.procs`; in a threaded cgroup, where that is not supported, the processes of `cgroup.threads`. */
function readPids(folder: string, files: ProcFiles, buffer: ReadBuffer): readonly number[] | null {
  using kept = new KeptFiles(buffer);
  const text = kept.read(folder, "cgroup.procs");
  if (text !== null) return numbers(text);
  const threads = kept.read(folder, "cgroup.threads");
  if (threads === null) return null;
  return numbers(threads).flatMap((thread) => {
    const status = orNull(() => files.text(`${thread}/status`));
    const group = status === null ? null : parseProcessStatus(status).threadGroup;
    return group === null ? [] : [group];
  });
}

function numbers(text: string): readonly number[] {
  return text.split("\n").flatMap((line) => {
    const pid = parseCount(line);
    return pid === null || pid === 0 ? [] : [pid];
  });
}
