import { type ContainerReader, type NodeReader, SocketTables, type SubjectNetwork } from "@trawler/linux";
import { errorCode, type Workload } from "@trawler/plugin-api";

/** The network namespace of a pod: that of its sandbox, else of any container of it. */
export class PodNetwork implements SubjectNetwork {
  readonly tables: SocketTables;
  readonly #files: NodeReader["files"];
  readonly #workload: () => Workload;
  readonly #containers: () => readonly ContainerReader[];

  constructor(files: NodeReader["files"], workload: () => Workload, containers: () => readonly ContainerReader[]) {
    this.#files = files;
    this.#workload = workload;
    this.#containers = containers;
    this.tables = new SocketTables(files, this);
  }

  hostNetwork(): boolean {
    const { sandbox, status } = this.#workload();
    return sandbox?.hostNetwork ?? status?.hostNetwork ?? false;
  }

  /** A runtime may have no process for the sandbox, or one that has just been replaced: then the containers' are looked for. */
  *pids(): Iterable<number> {
    const pid = this.#workload().sandbox?.handle.pid;
    if (pid !== undefined && this.#isSandbox(pid)) yield pid;
    yield* this.memberPids();
  }

  *candidates(): Iterable<number> {
    const pid = this.#workload().sandbox?.handle.pid;
    if (pid !== undefined) yield pid;
    yield* this.memberPids();
  }

  /** Processes of all containers that still run. */
  memberPids(): readonly number[] {
    return this.#containers().flatMap((container) => {
      try {
        return container.pids();
      } catch (error) {
        if (errorCode(error) === "TRAWLER_GONE") return [];
        throw error;
      }
    });
  }

  readonly belongs = (cgroup: string): boolean => {
    const sandbox = this.#workload().sandbox?.id;
    if (sandbox !== undefined && sandbox !== "" && cgroup.includes(sandbox)) return true;
    return this.#containers().some((container) => container.belongs(cgroup));
  };

  addresses(): readonly string[] {
    const { status, resource } = this.#workload();
    const address = resource["k8s.pod.ip"];
    const addresses = [...(status?.ips ?? []), ...(typeof address === "string" ? [address] : [])];
    return [...new Set(addresses)];
  }

  #isSandbox(pid: number): boolean {
    try {
      return this.belongs(this.#files.text(`${pid}/cgroup`));
    } catch {
      // Gone, or hidden: a container's process tells as much.
      return false;
    }
  }
}
