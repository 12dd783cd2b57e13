import type {
  BlockFigures,
  CgroupAccess,
  CpuFigures,
  InterfaceFigures,
  MemoryFigures,
  NetworkAccess,
  PidsFigures,
  ProcessAccess,
  ProcessStatus,
  SocketStatus,
} from "@trawler/plugin-api";
import { type Answer, answerOf } from "./answers.ts";

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
}

export interface CgroupAnswers {
  readonly cpu?: Answer<CpuFigures>;
  readonly memory?: Answer<MemoryFigures>;
  readonly block?: Answer<readonly BlockFigures[]>;
  readonly pids?: Answer<PidsFigures>;
}

export interface NetAnswers {
  readonly interfaces?: Answer<readonly InterfaceFigures[]>;
}

type Turn = () => number;
const first: Turn = () => 0;

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
  };
}

/** Counters as scripted. */
export function fakeCgroup(answers: CgroupAnswers, turn: Turn = first): CgroupAccess {
  return {
    cpu: async () => answerOf(answers.cpu, "cpu", turn()),
    memory: async () => answerOf(answers.memory, "memory", turn()),
    block: async () => answerOf(answers.block, "block", turn()),
    pids: async () => answerOf(answers.pids, "pids", turn()),
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
