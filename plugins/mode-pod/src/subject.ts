import {
  type CgroupReader,
  ContainerReader,
  isNodeNetwork,
  locatePod,
  type NamespaceConnector,
  type NodeReader,
  openNetwork,
  openProcessAccess,
} from "@trawler/linux";
import {
  type Access,
  type CallContext,
  type CgroupAccess,
  type Container,
  errorMessage,
  type NetworkAccess,
  type ProcessAccess,
  type Subject,
  unsupported,
  type Workload,
} from "@trawler/plugin-api";
import { runningContainers } from "./containers.ts";
import { PodNetwork } from "./network.ts";

/** An open pod. Its own cgroup stays open until it is disposed: it holds the totals after the containers have ended. */
export class PodSubject implements Subject {
  readonly #node: NodeReader;
  readonly #connector: NamespaceConnector;
  readonly #containers = new Map<string, ContainerReader>();
  readonly #network: PodNetwork;
  readonly #proc: ProcessAccess;
  readonly #net: NetworkAccess;
  readonly #figures: CgroupAccess;
  #workload: Workload;
  #cgroup: CgroupReader | null = null;
  #members: ReadonlyMap<string, Partial<Access>> = new Map();
  #closed = false;

  constructor(node: NodeReader, connector: NamespaceConnector, workload: Workload) {
    this.#node = node;
    this.#connector = connector;
    this.#workload = workload;
    this.#network = new PodNetwork(
      node.files,
      () => this.#workload,
      () => [...this.#containers.values()],
    );
    this.#proc = openProcessAccess({
      files: node.files,
      system: node.system,
      bootTime: () => node.bootTime(),
      // Of the members, without the sandbox; none is no error: a pod waits between two runs of its containers.
      pids: () => this.#network.memberPids(),
      belongs: (cgroup) => [...this.#containers.values()].some((container) => container.belongs(cgroup)),
      tables: this.#network.tables,
      hostNetwork: () => isNodeNetwork(node.files, this.#network),
    });
    this.#net = openNetwork(node.files, this.#network, this.#proc, connector);
    this.#figures = {
      cpu: async () => this.#pod().cpu(),
      memory: async () => this.#pod().memory(),
      block: async () => this.#pod().block(),
      pids: async () => this.#pod().pids(),
      processors: async () => this.#pod().processors(),
      pressure: async () => this.#pod().pressure(),
    };
  }

  get access(): Partial<Access> {
    return {
      proc: this.#proc,
      cgroup: this.#figures,
      net: this.#net,
      meta: { workload: this.#workload, container: null },
    };
  }

  get members(): ReadonlyMap<string, Partial<Access>> {
    return this.#members;
  }

  async update(workload: Workload, context: CallContext): Promise<void> {
    this.#workload = workload;
    const running = runningContainers(workload);
    for (const [id, container] of this.#containers) {
      if (running.has(id)) continue;
      this.#containers.delete(id);
      await container[Symbol.asyncDispose]();
    }
    // Nobody would close what is opened from here on.
    if (this.#closed) return;
    for (const [id, { handle }] of running) {
      if (this.#containers.has(id)) continue;
      const container = this.#open(id, handle, context);
      if (container !== null) this.#containers.set(id, container);
    }
    this.#openPod();
    this.#members = this.#memberAccess(running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const open = [...this.#containers.values()];
    this.#containers.clear();
    this.#members = new Map();
    this.#cgroup?.[Symbol.dispose]();
    for (const container of open) await container[Symbol.asyncDispose]();
  }

  #open(id: string, handle: Container["handle"], { log }: CallContext): ContainerReader | null {
    try {
      const options = { network: this.#network, connector: this.#connector };
      const container = new ContainerReader(this.#node, id, handle, options);
      return container.exists() ? container : null;
    } catch (error) {
      // One member that cannot be opened is left out; the pod and the others are crawled.
      log.warn({ pod: this.#workload.name, container: id, error: errorMessage(error) }, "a container was not opened");
      return null;
    }
  }

  /** A pod that ended before it was seen has none; nor do drivers that do not group by pod. */
  #pod(): CgroupReader {
    if (this.#cgroup === null) throw unsupported("the pod has no cgroup of its own");
    return this.#cgroup;
  }

  #openPod(): void {
    if (this.#cgroup !== null && !this.#cgroup.gone) return;
    this.#cgroup?.[Symbol.dispose]();
    const near = [...this.#containers.values()].map(({ path }) => path);
    const { handle, sandbox } = this.#workload;
    const path = locatePod(this.#node.hierarchy, handle, [...near, sandbox?.handle.cgroup ?? null]);
    this.#cgroup = path === null ? null : this.#node.openCgroup(path);
  }

  #memberAccess(running: ReadonlyMap<string, Container>): ReadonlyMap<string, Partial<Access>> {
    const members = new Map<string, Partial<Access>>();
    for (const [id, container] of running) {
      const reader = this.#containers.get(id);
      if (reader !== undefined) members.set(id, { ...reader.access, meta: { workload: this.#workload, container } });
    }
    return members;
  }
}
