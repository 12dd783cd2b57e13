import {
  BootTime,
  hostPids,
  openHostCgroup,
  openProcessAccess,
  ProcFileReader,
  readHostInterfaces,
} from "@trawler/linux";
import {
  type Access,
  type Clock,
  type Mode,
  type NodeInfo,
  type Subject,
  unsupported,
  type Workload,
} from "@trawler/plugin-api";

/** Opens the host itself: every process, the machine's figures, the node's network. */
export class HostMode implements Mode {
  readonly #files: ProcFileReader;
  readonly #clock: Clock;
  readonly #bootTime: BootTime;

  constructor(paths: NodeInfo["paths"], clock: Clock) {
    this.#files = new ProcFileReader(paths.proc);
    this.#clock = clock;
    this.#bootTime = new BootTime(this.#files, clock);
  }

  async open(workload: Workload): Promise<Subject> {
    return new HostSubject(workload, {
      proc: openProcessAccess({
        files: this.#files,
        bootTime: () => this.#bootTime.seconds(),
        pids: () => hostPids(this.#files),
        firstPid: 1,
        namespacePids: () => [1],
        hostNetwork: false,
      }),
      cgroup: openHostCgroup(this.#files, this.#clock),
      net: {
        interfaces: async () => readHostInterfaces(this.#files),
        connect: async () => {
          throw unsupported("applications of the host are not crawled yet");
        },
      },
    });
  }
}

class HostSubject implements Subject {
  readonly members: ReadonlyMap<string, Partial<Access>> = new Map();
  readonly #opened: Partial<Access>;
  #workload: Workload;

  constructor(workload: Workload, opened: Partial<Access>) {
    this.#workload = workload;
    this.#opened = opened;
  }

  get access(): Partial<Access> {
    return { ...this.#opened, meta: { workload: this.#workload, container: null } };
  }

  async update(workload: Workload): Promise<void> {
    this.#workload = workload;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
