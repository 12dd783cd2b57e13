import { parseCgroupName } from "./names.ts";

/** One hierarchy of the node's cgroups, as far as it is read here. Paths begin at its root. */
export interface CgroupTree {
  /** Names of the folders in one; empty where it has gone. */
  folders(path: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Pids in one, as the node's pid namespace numbers them; empty where it has gone. */
  pids(path: string, signal: AbortSignal): Promise<readonly number[]>;
}

export interface PodCgroup {
  readonly podUid: string;
  readonly path: string;
  /** Container id to path. The sandbox is among them: nothing here tells it apart. */
  readonly containers: ReadonlyMap<string, string>;
}

const MAX_DEPTH = 7;
const MAX_PODS = 2_000;

/** All pods' cgroups below the root, by UID. Descends only where pods can be. */
export async function findPodCgroups(tree: CgroupTree, signal: AbortSignal): Promise<ReadonlyMap<string, PodCgroup>> {
  const found = new Map<string, PodCgroup>();
  const visit = async (path: string, depth: number): Promise<void> => {
    for (const folder of await tree.folders(path === "" ? "/" : path, signal)) {
      signal.throwIfAborted();
      const name = parseCgroupName(folder);
      const child = `${path}/${folder}`;
      if (name?.kind === "pod" && found.size < MAX_PODS) {
        found.set(name.podUid, {
          podUid: name.podUid,
          path: child,
          containers: await containersOf(tree, child, signal),
        });
      } else if ((name?.kind === "above" || name?.kind === "container") && depth < MAX_DEPTH) {
        // A node in a container (kind) has its pods below that container's own cgroup.
        await visit(child, depth + 1);
      }
    }
  };
  await visit("", 0);
  return found;
}

async function containersOf(tree: CgroupTree, path: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const containers = new Map<string, string>();
  for (const folder of await tree.folders(path, signal)) {
    const name = parseCgroupName(folder);
    if (name?.kind === "container") containers.set(name.containerId, `${path}/${folder}`);
  }
  return containers;
}

/** The first process of a container: its own, or of a cgroup below (CRI-O's `container`, systemd in a container). */
export async function firstPid(tree: CgroupTree, path: string, signal: AbortSignal, depth = 0): Promise<number | null> {
  const pids = await tree.pids(path, signal);
  const lowest = pids.reduce((least, pid) => (pid > 0 && pid < least ? pid : least), Number.POSITIVE_INFINITY);
  if (Number.isFinite(lowest)) return lowest;
  if (depth >= 2) return null;
  for (const folder of (await tree.folders(path, signal)).slice(0, 50)) {
    const pid = await firstPid(tree, `${path}/${folder}`, signal, depth + 1);
    if (pid !== null) return pid;
  }
  return null;
}
