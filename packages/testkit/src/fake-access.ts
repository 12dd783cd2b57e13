import type {
  BlockFigures,
  CgroupAccess,
  CpuFigures,
  DiskFigures,
  FileSystemAccess,
  FileSystemStatus,
  GpuStatus,
  InterfaceFigures,
  LoadFigures,
  MemoryFigures,
  NetworkAccess,
  PidsFigures,
  PressureFigures,
  ProcessAccess,
  ProcessorFigures,
  ProcessStatus,
  SocketStatus,
} from "@trawler/plugin-api";
import { type Answer, answerOf } from "./answers.ts";

/** Answers of `fs` that no folder of files can give. */
export interface FsAnswers {
  readonly fileSystems?: Answer<{ readonly fileSystems: readonly FileSystemStatus[]; readonly truncated: boolean }>;
}

/** Answers of `proc`. Processes may be given alone: then `total` is their number. */
export interface ProcAnswers {
  readonly commands?: Answer<readonly { readonly pid: number; readonly command: string }[]>;
  readonly processes?: Answer<{ readonly processes: readonly ProcessStatus[]; readonly total: number }>;
  readonly sockets?: Answer<{
    readonly sockets: readonly SocketStatus[];
    readonly total: number;
    readonly attributed: boolean;
  }>;
  readonly environmentNames?: Answer<readonly string[]>;
  readonly load?: Answer<LoadFigures>;
  readonly disks?: Answer<readonly DiskFigures[]>;
  readonly gpus?: Answer<readonly GpuStatus[]>;
}

export interface CgroupAnswers {
  readonly cpu?: Answer<CpuFigures>;
  readonly memory?: Answer<MemoryFigures>;
  readonly block?: Answer<readonly BlockFigures[]>;
  readonly pids?: Answer<PidsFigures>;
  readonly processors?: Answer<readonly ProcessorFigures[]>;
  readonly pressure?: Answer<PressureFigures>;
}

export interface NetAnswers {
  readonly interfaces?: Answer<readonly InterfaceFigures[]>;
}

type Turn = () => number;
const first: Turn = () => 0;

/** A file system whose mounts are as scripted. */
export function fakeFs(files: FileSystemAccess, answers: FsAnswers, turn: Turn = first): FileSystemAccess {
  return { ...files, fileSystems: async () => answerOf(answers.fileSystems, "the list of file systems", turn()) };
}

/** Processes as scripted. `max` is kept as the contract says. */
export function fakeProc(answers: ProcAnswers, turn: Turn = first): ProcessAccess {
  return {
    async commands() {
      return answerOf(answers.commands, "the list of commands", turn());
    },
    async processes(options) {
      const { processes, total } = answerOf(answers.processes, "the list of processes", turn());
      return { processes: processes.slice(0, options?.max ?? 200), total };
    },
    async sockets(options) {
      const { sockets, ...rest } = answerOf(answers.sockets, "the list of sockets", turn());
      return { sockets: sockets.slice(0, options?.max), ...rest };
    },
    async environmentNames() {
      return answerOf(answers.environmentNames, "the environment", turn());
    },
    load: async () => answerOf(answers.load, "the load", turn()),
    disks: async () => answerOf(answers.disks, "the list of disks", turn()),
    gpus: async () => answerOf(answers.gpus, "the list of graphics processors", turn()),
  };
}

/** Counters as scripted. */
export function fakeCgroup(answers: CgroupAnswers, turn: Turn = first): CgroupAccess {
  return {
    cpu: async () => answerOf(answers.cpu, "cpu", turn()),
    memory: async () => answerOf(answers.memory, "memory", turn()),
    block: async () => answerOf(answers.block, "block", turn()),
    pids: async () => answerOf(answers.pids, "pids", turn()),
    processors: async () => answerOf(answers.processors, "the list of processors", turn()),
    pressure: async () => answerOf(answers.pressure, "pressure", turn()),
  };
}

/** Interfaces as scripted; `connect` as given, else nothing listens. */
export function fakeNet(answers: NetAnswers, connect?: NetworkAccess["connect"], turn: Turn = first): NetworkAccess {
  return {
    interfaces: async () => answerOf(answers.interfaces, "the list of interfaces", turn()),
    connect:
      connect ??
      (async () => answerOf<never>({ error: "TRAWLER_UNAVAILABLE", message: "connection refused" }, "connect", 0)),
  };
}

/** A TCP socket that listens on all addresses, held by the process 5 unless said otherwise; null = by nobody we know. */
export function listens(port: number, pid: number | null = 5, overrides: Partial<SocketStatus> = {}): SocketStatus {
  return {
    protocol: "tcp",
    localAddress: "0.0.0.0",
    localPort: port,
    remoteAddress: null,
    remotePort: null,
    state: "LISTEN",
    inode: port,
    pid,
    ...overrides,
  };
}
