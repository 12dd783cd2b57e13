import type { CallContext, Clock, Logger, NodeInfo, PluginHost } from "@trawler/plugin-api";

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

/** A logger that writes nothing. */
export const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A logger that keeps its lines. */
export function collectingLog(): Logger & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const to =
    (level: LogLine["level"]) =>
    (fields: object, message: string): void => {
      lines.push({ level, fields, message });
    };
  return { lines, debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") };
}

/** A clock that stands still until it is told to go on. Starts at 2026-01-01T00:00:00.000Z and 1000 s. */
export interface FakeClock extends Clock {
  advance(milliseconds: number): void;
}

export function fakeClock(start: number = Date.UTC(2026, 0, 1)): FakeClock {
  let elapsed = 0;
  return {
    now: () => start + elapsed,
    monotonic: () => 1000 + elapsed / 1000,
    advance(milliseconds) {
      elapsed += milliseconds;
    },
  };
}

export const fakeNode: NodeInfo = {
  name: "node-a",
  cluster: "testbed",
  paths: { root: "/", proc: "/proc", cgroup: "/sys/fs/cgroup" },
};

/** What a plugin is created with: silent, on a clock that stands still, never closed. */
export function fakeHost(overrides: Partial<PluginHost> = {}): PluginHost {
  return {
    id: "under-test",
    log: silentLog,
    clock: fakeClock(),
    node: fakeNode,
    signal: new AbortController().signal,
    ...overrides,
  };
}

/** What a call is given; never aborts unless told. */
export function fakeContext(signal: AbortSignal = new AbortController().signal): CallContext {
  return { signal, log: silentLog };
}
