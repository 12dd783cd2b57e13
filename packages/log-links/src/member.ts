import { hostPids, openFileSystem, ProcFileReader, type RootedFileSystem, readProcessStat } from "@trawler/linux";
import { type Container, TrawlerError } from "@trawler/plugin-api";
import { locationsOfEnvironment } from "./locations.ts";

/** A running container, open: its files, and what its environment says of its logs. */
export interface Member extends AsyncDisposable {
  readonly files: Pick<RootedFileSystem, "openFile" | "list">;
  /** `LOG_LOCATIONS` of its first process now; null without one. It may change: a runtime starts what it then becomes. */
  locations(signal: AbortSignal): Promise<string | null>;
}

const ENVIRON_BYTES = 256 * 1024;

/**
 * Opens a container by its first process, whose control group must be the container's. Throws TRAWLER_GONE,
 * TRAWLER_DENIED, and TRAWLER_REFUSED before the runtime has set its root up.
 */
export async function openMember(container: Container, procRoot: string, signal: AbortSignal): Promise<Member> {
  const proc = new ProcFileReader(procRoot);
  const { id } = container;
  const gone = (): TrawlerError => new TrawlerError("TRAWLER_GONE", `container ${container.name} has ended`);
  if (id === null) throw gone();
  const belongs = (pid: number): boolean => {
    try {
      return proc.text(`${pid}/cgroup`).includes(id);
    } catch {
      return false;
    }
  };
  const pid = container.handle.pid ?? hostPids(proc).find(belongs);
  const stat = pid === undefined ? null : readProcessStat(proc, pid);
  if (pid === undefined || stat === null || !belongs(pid)) throw gone();
  const files = await openFileSystem({ pid, procRoot, startTicks: stat.startTicks, signal });
  return {
    files,
    async locations(own) {
      const text = await proc.slowText(`${pid}/environ`, { maxBytes: ENVIRON_BYTES, longLines: true, signal: own });
      // Another process may have the pid meanwhile.
      if (readProcessStat(proc, pid)?.startTicks !== stat.startTicks) throw gone();
      return text === null ? null : locationsOfEnvironment(text);
    },
    [Symbol.asyncDispose]: () => files[Symbol.asyncDispose](),
  };
}
