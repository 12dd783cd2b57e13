import {
  findNodeNamespace,
  hostPids,
  NamespaceConnector,
  NodeReader,
  openHostCgroup,
  openHostFileSystem,
  openProcessAccess,
  readHostInterfaces,
  SocketTables,
} from "@trawler/linux";
import type { Access, Clock, Mode, NodeInfo, Subject, Workload } from "@trawler/plugin-api";

type Opened = Omit<Access, "meta"> & { readonly fs: Access["fs"] & AsyncDisposable };

/** Opens the host itself: its files, every process, the machine's figures, the node's network. */
export class HostMode implements Mode, AsyncDisposable {
  readonly #root: string;
  readonly #node: NodeReader;
  readonly #clock: Clock;
  readonly #connector = new NamespaceConnector();

  constructor(paths: NodeInfo["paths"], clock: Clock) {
    this.#root = paths.root;
    this.#node = new NodeReader(paths, clock);
    this.#clock = clock;
  }

  async open(workload: Workload): Promise<Subject> {
    const { files } = this.#node;
    return new HostSubject(workload, {
      fs: await openHostFileSystem(this.#root),
      proc: openProcessAccess({
        files,
        system: this.#node.system,
        bootTime: () => this.#node.bootTime(),
        pids: () => hostPids(files),
        firstPid: 1,
        tables: new SocketTables(files, { pids: () => [1], belongs: () => true }),
        hostNetwork: () => false,
      }),
      cgroup: openHostCgroup(files, this.#clock),
      net: {
        interfaces: async () => readHostInterfaces(files),
        connect: (target, options) => {
          const pid = findNodeNamespace(files)?.pid ?? 1;
          return this.#connector.connect({ pid, procRoot: files.root, allowNodeRoot: true }, target, options);
        },
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connector[Symbol.asyncDispose]();
  }
}

class HostSubject implements Subject {
  readonly members: ReadonlyMap<string, Partial<Access>> = new Map();
  readonly #opened: Opened;
  #workload: Workload;

  constructor(workload: Workload, opened: Opened) {
    this.#workload = workload;
    this.#opened = opened;
  }

  get access(): Partial<Access> {
    return { ...this.#opened, meta: { workload: this.#workload, container: null } };
  }

  async update(workload: Workload): Promise<void> {
    this.#workload = workload;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.fs[Symbol.asyncDispose]();
  }
}
