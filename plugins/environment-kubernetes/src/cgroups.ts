import type { PodCgroup } from "@trawler/kube";
import { cgroupPids, locateContainer, locatePod, NodeReader } from "@trawler/linux";
import type { PluginHost } from "@trawler/plugin-api";

/** Looks a pod up in the node's cgroup tree. */
export interface CgroupFinder {
  /** Null where the tree has nothing of the pod. */
  find(podUid: string, containerIds: readonly string[]): PodCgroup | null;
}

/** Containers whose place is remembered: a search goes through the whole tree. */
const MAX_KNOWN = 10_000;

/** Finds by UID and container id, whatever driver and runtime made the names. */
export function cgroupFinder(host: PluginHost): CgroupFinder {
  const node = new NodeReader(host.node.paths, host.clock);
  const { hierarchy, files, buffer } = node;
  /** Container id to path. */
  const known = new Map<string, string>();

  const pathOf = (containerId: string, pod: string | null): string | null => {
    const before = known.get(containerId);
    if (before !== undefined) return before;
    // The driver cgroupfs names the folder by the bare id: worth one look before a search.
    const cgroup = pod === null ? {} : { cgroup: `${pod}/${containerId}` };
    const path = locateContainer(hierarchy, files, { containerId, ...cgroup });
    if (path === null) return null;
    known.set(containerId, path);
    const [oldest] = known.keys();
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    return path;
  };
  const firstPid = (containerId: string, path: string): number | null => {
    try {
      return cgroupPids(hierarchy, path, files, buffer)[0] ?? null;
    } catch {
      // It has been removed.
      known.delete(containerId);
      return null;
    }
  };

  return {
    find: (podUid, containerIds) => {
      const near = containerIds.map((id) => known.get(id) ?? null);
      const pod = locatePod(hierarchy, { podUid }, near);
      const containers = new Map<string, { readonly path: string; readonly pid: number | null }>();
      for (const id of containerIds) {
        const path = pathOf(id, pod);
        if (path !== null) containers.set(id, { path, pid: firstPid(id, path) });
      }
      return pod === null && containers.size === 0 ? null : { path: pod, containers };
    },
  };
}
