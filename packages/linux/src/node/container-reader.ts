import { type Access, type CgroupAccess, type Handle, type ProcessAccess, TrawlerError } from "@trawler/plugin-api";
import type { CgroupReader } from "../cgroup/access.ts";
import { locateContainer } from "../cgroup/locate.ts";
import { cgroupPids } from "../cgroup/processes.ts";
import { openFileSystem } from "../files/open.ts";
import type { NamespaceConnector } from "../namespace/connector.ts";
import { orNull } from "../proc/files.ts";
import { hostPids } from "../proc/host-processes.ts";
import { openProcessAccess } from "../proc/process-access.ts";
import { readProcessStat } from "../proc/process-reader.ts";
import { LazyFileSystem } from "./lazy-file-system.ts";
import type { NodeReader } from "./node-reader.ts";
import { isNodeNetwork, openNetwork, type SubjectNetwork } from "./subject-network.ts";

/** One running container, open: its cgroup, its processes, its files when they are first asked for. */
export class ContainerReader implements AsyncDisposable {
  readonly id: string;
  readonly access: Omit<Access, "meta">;
  readonly #handle: Partial<Handle>;
  readonly #node: NodeReader;
  readonly #files: LazyFileSystem;
  #cgroup: CgroupReader | null;
  #ours: boolean | null = null;

  constructor(
    node: NodeReader,
    id: string,
    handle: Partial<Handle>,
    options: { readonly network: SubjectNetwork; readonly connector: Pick<NamespaceConnector, "connect"> },
  ) {
    this.id = id;
    this.#handle = handle;
    this.#node = node;
    this.#cgroup = this.#locate();
    this.#files = new LazyFileSystem(
      () => this.#openFiles(),
      () => this.#gone(),
    );
    const proc = this.#openProcesses(options.network);
    const net = openNetwork(node.files, options.network, proc, options.connector);
    this.access = { fs: this.#files, proc, cgroup: this.#figures(), net };
  }

  /** Path of its cgroup; null while it is not found. */
  get path(): string | null {
    return this.#cgroup?.path ?? null;
  }

  /** Whether the text of a `/proc/PID/cgroup` is that of one of its processes: a runtime's ids are unique. */
  readonly belongs = (cgroup: string): boolean => cgroup.includes(this.id) || (isBare(cgroup) && this.#isOurs());

  /** Whether there is a cgroup of it, or a process. */
  exists(): boolean {
    return this.#cgroup !== null || this.#ownPids().length > 0;
  }

  /** Throws TRAWLER_GONE where none is left. Without its cgroup every process of the node is asked for its own. */
  pids(): readonly number[] {
    const pids = this.#ownPids();
    if (pids.length === 0) throw this.#gone();
    return pids;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cgroup?.[Symbol.dispose]();
    await this.#files[Symbol.asyncDispose]();
  }

  #ownPids(): readonly number[] {
    const { files, hierarchy, buffer } = this.#node;
    if (this.#cgroup !== null) return cgroupPids(hierarchy, this.#cgroup.path, files, buffer);
    return hostPids(files).filter((pid) => this.belongs(orNull(() => files.text(`${pid}/cgroup`)) ?? ""));
  }

  /**
   * Whether it is the container that this process runs in: with a cgroup namespace of its own (the rule with cgroup v2)
   * what is in there says `/`, and so does no other container's.
   */
  #isOurs(): boolean {
    const { files, hierarchy, buffer } = this.#node;
    const path = this.#cgroup?.path;
    if (path === undefined) return false;
    this.#ours ??=
      orNull(() => cgroupPids(hierarchy, path, files, buffer).includes(Number(files.link("self")))) ?? false;
    return this.#ours;
  }

  #locate(): CgroupReader | null {
    const { hierarchy, files } = this.#node;
    const path = locateContainer(hierarchy, files, { ...this.#handle, containerId: this.id });
    return path === null ? null : this.#node.openCgroup(path);
  }

  #figures(): CgroupAccess {
    const reader = (): CgroupReader => {
      this.#cgroup ??= this.#locate();
      if (this.#cgroup === null) throw this.#gone();
      return this.#cgroup;
    };
    return {
      cpu: async () => reader().cpu(),
      memory: async () => reader().memory(),
      block: async () => reader().block(),
      pids: async () => reader().pids(),
      processors: async () => reader().processors(),
      pressure: async () => reader().pressure(),
    };
  }

  #openProcesses(network: SubjectNetwork): ProcessAccess {
    return openProcessAccess({
      files: this.#node.files,
      system: this.#node.system,
      bootTime: () => this.#node.bootTime(),
      pids: () => this.pids(),
      belongs: this.belongs,
      tables: network.tables,
      hostNetwork: () => isNodeNetwork(this.#node.files, network),
      ...(this.#handle.pid === undefined ? {} : { firstPid: this.#handle.pid }),
    });
  }

  /** The root is that of the first process: whose container it is, is checked beside its start time. */
  async #openFiles(): ReturnType<typeof openFileSystem> {
    const { files } = this.#node;
    const pid = this.#handle.pid ?? this.pids()[0] ?? 0;
    const stat = readProcessStat(files, pid);
    const cgroup = orNull(() => files.text(`${pid}/cgroup`));
    if (stat === null || cgroup === null || !this.belongs(cgroup)) throw this.#gone();
    return openFileSystem({ pid, procRoot: files.root, startTicks: stat.startTicks });
  }

  #gone(): TrawlerError {
    return new TrawlerError("TRAWLER_GONE", `container ${this.id.slice(0, 12)} has ended`);
  }
}

/** Whether the text of a `/proc/PID/cgroup` names the root everywhere. */
function isBare(cgroup: string): boolean {
  return cgroup
    .trimEnd()
    .split("\n")
    .every((line) => line.endsWith(":/"));
}
