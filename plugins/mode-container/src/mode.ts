import { ContainerReader, NamespaceConnector, NodeReader } from "@trawler/linux";
import type { Access, Clock, Mode, NodeInfo, Subject, Workload } from "@trawler/plugin-api";
import { ContainerNetwork } from "./network.ts";
import { containerSubjects } from "./subjects.ts";

/** Opens containers, each a subject of its own. */
export class ContainerMode implements Mode, AsyncDisposable {
  readonly #node: NodeReader;
  readonly #connector = new NamespaceConnector();

  constructor(paths: NodeInfo["paths"], clock: Clock) {
    this.#node = new NodeReader(paths, clock);
  }

  subjects(workload: Workload): readonly Workload[] {
    return containerSubjects(workload);
  }

  async open(workload: Workload): Promise<Subject> {
    return new ContainerSubject(this.#node, this.#connector, workload);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connector[Symbol.asyncDispose]();
  }
}

/** Kept open until it is disposed: what has ended answers TRAWLER_GONE. */
class ContainerSubject implements Subject {
  readonly members: ReadonlyMap<string, Partial<Access>> = new Map();
  readonly #node: NodeReader;
  readonly #connector: NamespaceConnector;
  #workload: Workload;
  #reader: ContainerReader;
  #closed = false;

  constructor(node: NodeReader, connector: NamespaceConnector, workload: Workload) {
    this.#node = node;
    this.#connector = connector;
    this.#workload = workload;
    this.#reader = this.#open();
  }

  get access(): Partial<Access> {
    const meta = { workload: this.#workload, container: this.#workload.containers[0] ?? null };
    return { ...this.#reader.access, meta };
  }

  /** The same container may be started again, with another first process and a new cgroup under the old name. */
  async update(workload: Workload): Promise<void> {
    const before = this.#workload.handle.pid;
    this.#workload = workload;
    const { pid } = workload.handle;
    if (pid === undefined || pid === before) return;
    await this.#reader[Symbol.asyncDispose]();
    // Nobody would close what is opened from here on.
    if (this.#closed) return;
    this.#reader = this.#open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#reader[Symbol.asyncDispose]();
  }

  #open(): ContainerReader {
    const { id, handle } = this.#workload;
    const network = new ContainerNetwork(
      this.#node.files,
      () => this.#workload,
      () => this.#reader,
    );
    const options = { network, connector: this.#connector };
    return new ContainerReader(this.#node, handle.containerId ?? id, handle, options);
  }
}
