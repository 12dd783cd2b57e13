import type { Socket } from "node:net";
import { type Access, type ErrorCode, TrawlerError } from "@trawler/plugin-api";
import { fakeCgroup, fakeNet, fakeProc } from "./fake-access.ts";
import { fakeConnect } from "./fake-server.ts";

export interface HostileAccess {
  readonly name: string;
  readonly access: Omit<Access, "meta">;
}

/** Accesses that refuse, have gone, cut off, or answer with noise. A crawler must meet each with a coded error or none. */
export function hostileAccesses(): readonly HostileAccess[] {
  return [
    { name: "denied", access: throwing("TRAWLER_DENIED") },
    { name: "gone", access: throwing("TRAWLER_GONE") },
    { name: "absent", access: throwing("TRAWLER_UNSUPPORTED") },
    { name: "over the limit", access: throwing("TRAWLER_LIMIT") },
    { name: "empty", access: answering(new Uint8Array()) },
    { name: "binary noise", access: answering(noise()) },
    { name: "text without an end", access: answering(new TextEncoder().encode("a=\"'{[<".repeat(4096))) },
  ];
}

/** An access of which nothing answers until the call's signal aborts. */
export function silentAccess(): Omit<Access, "meta"> {
  const hang = (options?: { readonly signal?: AbortSignal }): Promise<never> =>
    new Promise((_, reject) => {
      const signal = options?.signal;
      if (signal?.aborted) reject(signal.reason);
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  return everywhere(hang);
}

/** Bytes that are no text; the same in every run (a linear congruential generator). */
function noise(): Uint8Array {
  let state = 42;
  return Uint8Array.from({ length: 8192 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 24;
  });
}

function throwing(code: ErrorCode): Omit<Access, "meta"> {
  return everywhere(async () => {
    throw new TrawlerError(code, "as scripted");
  });
}

function everywhere(call: (options?: { readonly signal?: AbortSignal }) => Promise<never>): Omit<Access, "meta"> {
  return {
    fs: {
      read: (_, options) => call(options),
      readText: (_, options) => call(options),
      stat: (_, options) => call(options),
      list: (_, options) => call(options),
      async *walk(_, options) {
        yield await call(options);
      },
      digest: (_, options) => call(options),
      fileSystems: call,
    },
    proc: {
      commands: call,
      processes: call,
      sockets: call,
      environmentNames: call,
      load: call,
      disks: call,
      gpus: call,
    },
    cgroup: { cpu: call, memory: call, block: call, pids: call, processors: call, pressure: call },
    net: { interfaces: call, connect: (_, options) => call(options) },
  };
}

function answering(bytes: Uint8Array): Omit<Access, "meta"> {
  const everyPort: Access["net"]["connect"] = (_, options) =>
    fakeConnect({ 1: (socket: Socket) => socket.end(bytes) })({ port: 1 }, options);
  return {
    fs: {
      read: async () => ({ bytes, size: bytes.length * 2, truncated: true }),
      readText: async () => new TextDecoder().decode(bytes),
      async stat(path) {
        const at = "2026-01-01T00:00:00.000Z";
        const owners = { userId: 0, groupId: 0, hostUserId: 0, hostGroupId: 0 };
        const times = { modified: at, changed: at, accessed: at };
        return { path, type: "file", size: bytes.length, mode: 0o644, ...owners, ...times, link: null };
      },
      list: async () => ({ entries: [], truncated: true }),
      async *walk() {},
      digest: async () => ({ digest: "", size: bytes.length * 2, truncated: true }),
      fileSystems: async () => ({ fileSystems: [], truncated: true }),
    },
    proc: fakeProc({
      commands: [],
      processes: { processes: [], total: 0 },
      sockets: { sockets: [], total: 0, attributed: false },
      environmentNames: [],
      load: { average1: null, average5: null, average15: null, running: null, uninterruptible: null, total: null },
      disks: [],
      gpus: [],
    }),
    cgroup: fakeCgroup(unknownFigures),
    net: fakeNet({ interfaces: [] }, everyPort),
  };
}

const unknownFigures = {
  processors: [],
  cpu: {
    monotonic: 1,
    time: null,
    user: null,
    system: null,
    periods: null,
    throttledPeriods: null,
    throttledTime: null,
    limit: null,
  },
  memory: {
    usage: null,
    workingSet: null,
    rss: null,
    cache: null,
    shared: null,
    swap: null,
    peak: null,
    limit: null,
    effectiveLimit: null,
    minorFaults: null,
    majorFaults: null,
    outOfMemory: null,
    outOfMemoryKills: null,
  },
  block: [],
  pids: { current: null, limit: null },
  pressure: { cpu: null, memory: null, io: null },
};
