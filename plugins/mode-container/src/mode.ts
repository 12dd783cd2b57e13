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
    const subject = new ContainerSubject(this.#node, this.#connector, workload);
    await subject.update(workload);
    return subject;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connector[Symbol.asyncDispose]();
  }
}

class ContainerSubject implements Subject {
  readonly members: ReadonlyMap<string, Partial<Access>> = new Map();
  readonly #node: NodeReader;
  readonly #connector: NamespaceConnector;
  #workload: Workload;
  #reader: ContainerReader | null = null;
  #pid: number | undefined;

  constructor(node: NodeReader, connector: NamespaceConnector, workload: Workload) {
    this.#node = node;
    this.#connector = connector;
    this.#workload = workload;
  }

  get access(): Partial<Access> {
    const meta = { workload: this.#workload, container: this.#workload.containers[0] ?? null };
    return { ...this.#reader?.access, meta };
  }

  /** The same container may be started again, with another first process and a new cgroup under the old name. */
  async update(workload: Workload): Promise<void> {
    this.#workload = workload;
    const runs = workload.lifecycle === "running" && workload.containers[0]?.state.status !== "terminated";
    const { pid } = workload.handle;
    if (this.#reader !== null && runs && pid === this.#pid) return;
    await this[Symbol.asyncDispose]();
    if (!runs) return;
    this.#pid = pid;
    const network = new ContainerNetwork(
      () => this.#workload,
      () => this.#reader,
    );
    this.#reader = new ContainerReader(this.#node, workload.handle.containerId ?? workload.id, workload.handle, {
      network,
      connector: this.#connector,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const reader = this.#reader;
    this.#reader = null;
    await reader?.[Symbol.asyncDispose]();
  }
}
