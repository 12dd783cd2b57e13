import { type ContainerReader, type NodeReader, SocketTables, type SubjectNetwork } from "@trawler/linux";
import type { Workload } from "@trawler/plugin-api";

/** The network namespace that a container is in: its own, another container's (`container:` network) or the node's. */
export class ContainerNetwork implements SubjectNetwork {
  readonly tables: SocketTables;
  readonly #workload: () => Workload;
  readonly #reader: () => ContainerReader;

  constructor(files: NodeReader["files"], workload: () => Workload, reader: () => ContainerReader) {
    this.#workload = workload;
    this.#reader = reader;
    this.tables = new SocketTables(files, this);
  }

  hostNetwork(): boolean {
    const { sandbox, status } = this.#workload();
    return sandbox?.hostNetwork ?? status?.hostNetwork ?? false;
  }

  pids(): readonly number[] {
    return this.#reader().pids();
  }

  readonly belongs = (cgroup: string): boolean => this.#reader().belongs(cgroup);

  addresses(): readonly string[] {
    return this.#workload().status?.ips ?? [];
  }
}
