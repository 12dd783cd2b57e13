import type { PodCgroup } from "@trawler/kube";
import { cgroupPids, NodeReader, openHostFileSystem, parseCgroupIdentity, type RootedFileSystem } from "@trawler/linux";
import type { NodeInfo, PluginHost } from "@trawler/plugin-api";

/** Folders above pods: QoS classes, a kubelet's own, a node that is itself a container. */
const ABOVE = /^(?:system|kubelet|docker|burstable|besteffort|(?:[\w-]+-)?kubepods(?:-[a-z]+)?)(?:\.slice)?$/;
const MAX_DEPTH = 7;
const MAX_PODS = 2_000;

/** Finds all pods' cgroups in one walk of the node's tree, by the UID in their names. */
export class CgroupFinder implements AsyncDisposable {
  readonly #node: NodeReader;
  readonly #tree: RootedFileSystem;

  private constructor(node: NodeReader, tree: RootedFileSystem) {
    this.#node = node;
    this.#tree = tree;
  }

  /** Throws TRAWLER_UNSUPPORTED where the node's cgroups are not to be found. */
  static async open(host: PluginHost): Promise<CgroupFinder> {
    const node = new NodeReader(host.node.paths, host.clock);
    return new CgroupFinder(node, await openHostFileSystem(folderOf(node, host.node)));
  }

  async find(signal: AbortSignal): Promise<ReadonlyMap<string, PodCgroup>> {
    const found = new Map<string, PodCgroup>();
    const visit = async (path: string, depth: number): Promise<void> => {
      for (const child of await this.#folders(path, signal)) {
        const name = child.slice(child.lastIndexOf("/") + 1);
        const { podUid, containerId } = parseCgroupIdentity(name);
        if (podUid !== null) {
          if (found.size < MAX_PODS) found.set(podUid, await this.#pod(child, signal));
        } else if ((containerId !== null || ABOVE.test(name)) && depth < MAX_DEPTH) await visit(child, depth + 1);
      }
    };
    await visit("/", 0);
    return found;
  }

  async #pod(path: string, signal: AbortSignal): Promise<PodCgroup> {
    const containers = new Map<string, { path: string; pid: number | null }>();
    for (const child of await this.#folders(path, signal)) {
      const { containerId } = parseCgroupIdentity(child.slice(child.lastIndexOf("/") + 1));
      if (containerId !== null) containers.set(containerId, { path: child, pid: this.#firstPid(child) });
    }
    return { path, containers };
  }

  #firstPid(path: string): number | null {
    try {
      return cgroupPids(this.#node.hierarchy, path, this.#node.files, this.#node.buffer)[0] ?? null;
    } catch {
      // It ended between two looks.
      return null;
    }
  }

  async #folders(path: string, signal: AbortSignal): Promise<readonly string[]> {
    try {
      const { entries } = await this.#tree.list(path, { signal });
      return entries.filter((entry) => entry.type === "directory").map((entry) => entry.path);
    } catch {
      signal.throwIfAborted();
      return [];
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tree[Symbol.asyncDispose]();
  }
}

/** Any one hierarchy will do: a runtime makes a container's cgroup in all of them. */
function folderOf({ hierarchy }: NodeReader, node: NodeInfo): string {
  return hierarchy.v1.get("memory") ?? hierarchy.v1.get("cpu") ?? hierarchy.unified ?? node.paths.cgroup;
}
