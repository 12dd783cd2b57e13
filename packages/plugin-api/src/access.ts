import type { FileSystemAccess, ReadOptions } from "./files.ts";
import type { Container, Workload } from "./workload.ts";

/** What a mode opens for a crawler. One property is one capability; the set is closed within `api` 1. */
export interface Access {
  readonly fs: FileSystemAccess;
  readonly proc: ProcessAccess;
  readonly cgroup: CgroupAccess;
  readonly net: NetworkAccess;
  readonly meta: MetaAccess;
}

export type Capability = keyof Access;

/** One process. Null = not readable with our rights, or not present. Times in seconds, sizes in bytes. */
export interface ProcessStatus {
  readonly pid: number;
  readonly parentPid: number;
  /** Start time in clock ticks after boot (field 22 of `/proc/PID/stat`): with `pid` it is the identity. */
  readonly startTicks: number;
  /** RFC 3339. */
  readonly startedAt: string;
  /** `comm`: at most 15 bytes, set by the program itself. */
  readonly command: string;
  /** Arguments, secrets redacted, 4 KiB together at most. */
  readonly commandLine: readonly string[];
  readonly executable: string | null;
  readonly workingDirectory: string | null;
  /** One letter of proc(5). */
  readonly state: string;
  readonly userId: number | null;
  readonly threads: number | null;
  readonly cpuUser: number;
  readonly cpuSystem: number;
  readonly memoryUsage: number | null;
  readonly memoryVirtual: number | null;
  readonly openFileDescriptors: number | null;
  readonly diskRead: number | null;
  readonly diskWritten: number | null;
  readonly containerPid: number | null;
  /** Absent unless asked for. */
  readonly mappedFiles?: MappedFiles | null;
}

/** The files that one process has mapped, each once and sorted: its program, its libraries, its data. */
export interface MappedFiles {
  /** As its container sees them; the kernel ends one that was deleted with ` (deleted)`. */
  readonly paths: readonly string[];
  /** There are more. */
  readonly truncated: boolean;
}

export interface SocketStatus {
  readonly protocol: "tcp" | "tcp6" | "udp" | "udp6" | "unix";
  readonly localAddress: string;
  /** 0 for unix sockets. */
  readonly localPort: number;
  readonly remoteAddress: string | null;
  readonly remotePort: number | null;
  /** `LISTEN`, `ESTABLISHED`, … as ss(8) names them. */
  readonly state: string;
  readonly inode: number;
  /** The process that holds it, where it could be found among the member's. */
  readonly pid: number | null;
}

/** Tasks (threads). Null = not known. */
export interface LoadFigures {
  /** Averages of tasks that run or wait, over one, five and fifteen minutes; null but for the host: they are its alone. */
  readonly average1: number | null;
  readonly average5: number | null;
  readonly average15: number | null;
  /** Tasks that run or are ready to. */
  readonly running: number | null;
  /** Tasks in uninterruptible sleep (state `D`); null for the host. */
  readonly uninterruptible: number | null;
  readonly total: number | null;
}

/** Counters of one disk or partition of the host since boot (`diskstats` of the kernel): bytes, operations, seconds. */
export interface DiskFigures {
  /** `major:minor`. */
  readonly device: string;
  /** As in `/dev`, such as `sda1`. */
  readonly name: string;
  readonly partition: boolean;
  readonly readOperations: number | null;
  readonly readBytes: number | null;
  /** Operations that were merged into others before they reached the disk. */
  readonly readMerged: number | null;
  /** Summed over all operations: may grow by more than a second in a second. */
  readonly readTime: number | null;
  readonly writeOperations: number | null;
  readonly writtenBytes: number | null;
  readonly writeMerged: number | null;
  readonly writeTime: number | null;
  /** Operations that are under way now. */
  readonly pending: number | null;
  /** Time in which at least one operation was under way. */
  readonly ioTime: number | null;
  /** `ioTime`, each moment weighted with the operations under way. */
  readonly weightedIoTime: number | null;
}

/** Null = its driver does not say. */
export interface GpuFigures {
  /** Shares, 0 to 1. */
  readonly utilization: number | null;
  readonly memoryUtilization: number | null;
  /** Bytes of its own memory. */
  readonly memoryTotal: number | null;
  readonly memoryUsed: number | null;
  /** Degrees Celsius. */
  readonly temperature: number | null;
  /** Watts. */
  readonly power: number | null;
  readonly powerLimit: number | null;
}

/** One graphics processor of the node. */
export interface GpuStatus {
  /** On its bus, such as `0000:65:00.0`. */
  readonly address: string;
  /** `nvidia`, `amdgpu`, `i915`, … */
  readonly driver: string | null;
  /** Its name, or `vendor:device` where the driver knows none. */
  readonly model: string | null;
  readonly uuid: string | null;
  /** Files by which programs use it, such as `/dev/nvidia0` and `/dev/dri/renderD128`. */
  readonly files: readonly string[];
  /** Null but for the host. */
  readonly figures: GpuFigures | null;
  /** The subject's processes that have opened one of the files; null for the host. */
  readonly pids: readonly number[] | null;
}

export interface ProcessAccess {
  /** Pids and `comm` only: cheap, for matching. */
  commands(options?: ReadOptions): Promise<readonly { readonly pid: number; readonly command: string }[]>;
  /** At most `max` (default 200), by memory use, largest first; of each at most `mappedFiles` (default 0: not read). */
  processes(options?: ReadOptions & { readonly max?: number; readonly mappedFiles?: number }): Promise<{
    readonly processes: readonly ProcessStatus[];
    readonly total: number;
  }>;
  /** Sockets of the network namespace; `pid` is set for those that a process of this member or subject holds. */
  sockets(options?: ReadOptions & { readonly max?: number }): Promise<{
    readonly sockets: readonly SocketStatus[];
    readonly total: number;
    /** False where `/proc/PID/fd` is not readable: then every `pid` is null. */
    readonly attributed: boolean;
  }>;
  /** Names of the environment variables of the first process, never their values. */
  environmentNames(options?: ReadOptions): Promise<readonly string[]>;
  /** The host's from `/proc/loadavg`, a member's from its own tasks; those of more than 4,096 are only counted. */
  load(options?: ReadOptions): Promise<LoadFigures>;
  /** Disks and partitions that were used since boot, in the kernel's order. Throws TRAWLER_UNSUPPORTED but for the host. */
  disks(options?: ReadOptions): Promise<readonly DiskFigures[]>;
  /** The host's by address, at most 64; of a member those that its processes have opened. Throws TRAWLER_DENIED where these are hidden. */
  gpus(options?: ReadOptions): Promise<readonly GpuStatus[]>;
}

/** CPU, seconds of CPU time. Null = the file or field is absent. `monotonic` in seconds is when it was read. */
export interface CpuFigures {
  readonly monotonic: number;
  readonly time: number | null;
  readonly user: number | null;
  readonly system: number | null;
  readonly periods: number | null;
  readonly throttledPeriods: number | null;
  readonly throttledTime: number | null;
  /** Cores; null = unlimited or unknown. */
  readonly limit: number | null;
}

/** Time of one logical processor of the host since boot, by what it was spent on, in seconds. Null = not counted. */
export interface ProcessorFigures {
  /** As the kernel numbers them; those that are offline are left out. */
  readonly number: number;
  readonly user: number | null;
  readonly nice: number | null;
  readonly system: number | null;
  readonly idle: number | null;
  /** Idle, while at least one task waited for a disk: not exact, and may go back. */
  readonly ioWait: number | null;
  /** Interrupts, soft ones included. */
  readonly interrupt: number | null;
  /** Taken by the hypervisor. */
  readonly steal: number | null;
}

/** Bytes, and events for the counts. Working set = usage − inactive file pages, not below 0. */
export interface MemoryFigures {
  readonly usage: number | null;
  readonly workingSet: number | null;
  readonly rss: number | null;
  readonly cache: number | null;
  readonly shared: number | null;
  readonly swap: number | null;
  readonly peak: number | null;
  /** Null = unlimited or unknown. */
  readonly limit: number | null;
  /** Smallest limit of this cgroup and those above it. */
  readonly effectiveLimit: number | null;
  readonly minorFaults: number | null;
  readonly majorFaults: number | null;
  readonly outOfMemory: number | null;
  readonly outOfMemoryKills: number | null;
}

export interface BlockFigures {
  /** `major:minor`. */
  readonly device: string;
  readonly readBytes: number | null;
  readonly writtenBytes: number | null;
  readonly readOperations: number | null;
  readonly writeOperations: number | null;
}

export interface PidsFigures {
  /** Threads and processes together. */
  readonly current: number | null;
  readonly limit: number | null;
}

/** Share of time in which tasks waited for a resource (`psi` of the kernel), 0 to 1, and seconds in total. */
export interface Stall {
  readonly average10: number;
  readonly average60: number;
  readonly average300: number;
  readonly total: number;
}

/** `some`: at least one task waited; `full`: all that were not idle did. */
export interface Pressure {
  readonly some: Stall | null;
  readonly full: Stall | null;
}

/** Null where the kernel keeps none: cgroup v1, or switched off. */
export interface PressureFigures {
  readonly cpu: Pressure | null;
  readonly memory: Pressure | null;
  readonly io: Pressure | null;
}

/** Counters and limits of one cgroup, v1, v2 or hybrid. A missing controller gives nulls, never an error. */
export interface CgroupAccess {
  cpu(options?: ReadOptions): Promise<CpuFigures>;
  memory(options?: ReadOptions): Promise<MemoryFigures>;
  block(options?: ReadOptions): Promise<readonly BlockFigures[]>;
  pids(options?: ReadOptions): Promise<PidsFigures>;
  /** In the kernel's order, at most 8,192. Throws TRAWLER_UNSUPPORTED but for the host. */
  processors(options?: ReadOptions): Promise<readonly ProcessorFigures[]>;
  pressure(options?: ReadOptions): Promise<PressureFigures>;
}

/** Counters since the interface was made; bytes, packets, events. */
export interface InterfaceFigures {
  readonly name: string;
  readonly receivedBytes: number;
  readonly receivedPackets: number;
  readonly receiveErrors: number;
  readonly receiveDropped: number;
  readonly transmittedBytes: number;
  readonly transmittedPackets: number;
  readonly transmitErrors: number;
  readonly transmitDropped: number;
}

/** A connected socket of Node. The one thing in `Access` that is no plain data: who needs `net` runs in the host's process. */
export type NetworkSocket = import("node:net").Socket;

export interface NetworkAccess {
  /** `lo` is left out. Throws TRAWLER_UNSUPPORTED where the namespace is the node's (hostNetwork). */
  interfaces(options?: ReadOptions): Promise<readonly InterfaceFigures[]>;
  /**
   * Connects inside the subject's network namespace, to loopback first and else to the pod's own addresses; without the
   * right to enter it, to the pod's address from outside. Never to any other host. The caller destroys the socket.
   * Errors: TRAWLER_UNAVAILABLE (refused, no route), TRAWLER_DENIED, TRAWLER_GONE, TRAWLER_PLUGIN_TIMEOUT.
   */
  connect(
    target: { readonly port: number; readonly host?: string } | { readonly unix: string },
    options?: ReadOptions & { readonly timeout?: number },
  ): Promise<NetworkSocket>;
}

/** What is known of the subject, and of the member where the crawler is asked about one. */
export interface MetaAccess {
  readonly workload: Workload;
  readonly container: Container | null;
}
