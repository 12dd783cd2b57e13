import { describe, expect, test } from "vitest";
import { SocketTables } from "../../src/network/socket-tables.ts";
import { openProcessAccess, type ProcessAccessOptions } from "../../src/proc/process-access.ts";
import { FakeProc, statText, systemError } from "../fake-proc.ts";

const ID = "a1".repeat(32);
const CGROUP = `0::/kubepods/pod549ca199-9aa0-4ee0-aa35-30a1d156c5f1/${ID}\n`;

function process(pid: number, options: Parameters<typeof statText>[1] = {}): Record<string, string | Error> {
  return {
    [`${pid}/stat`]: statText(pid, options),
    [`${pid}/cgroup`]: CGROUP,
    [`${pid}/status`]: `Name:\tapp\nTgid:\t${pid}\nUid:\t999\t999\t999\t999\nNSpid:\t${pid}\t1\nVmSize:\t 4000 kB\nVmRSS:\t 40 kB\nThreads:\t3\n`,
    [`${pid}/io`]: "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\n",
    [`${pid}/exe`]: "/usr/bin/app",
    [`${pid}/cwd`]: "/srv",
    [`${pid}/cmdline`]: "app\0--password=x\0",
    [`${pid}/environ`]: "B=1\0A=2\0",
    [`${pid}/fd/0`]: "/dev/null",
    [`${pid}/fd/3`]: "socket:[500]",
  };
}

function open(files: FakeProc, pids: readonly number[], options: Partial<ProcessAccessOptions> = {}) {
  return openProcessAccess({
    files,
    bootTime: () => 1_700_000_000,
    pids: () => pids,
    belongs: (cgroup) => cgroup.includes(ID),
    tables: new SocketTables(files, { pids: () => pids, belongs: () => true }),
    hostNetwork: () => false,
    ...options,
  });
}

describe("processes", () => {
  test("parity P11: every field, in base units", async () => {
    const { processes, total } = await open(new FakeProc(process(900)), [900]).processes();
    expect(total).toBe(1);
    expect(processes).toEqual([
      {
        pid: 900,
        parentPid: 1,
        startTicks: 1000,
        startedAt: "2023-11-14T22:13:30.000Z",
        command: "app",
        commandLine: ["app", "--password=[redacted]"],
        executable: "/usr/bin/app",
        workingDirectory: "/srv",
        state: "S",
        userId: 999,
        threads: 3,
        cpuUser: 0.5,
        cpuSystem: 0.25,
        memoryUsage: 40_960,
        memoryVirtual: 4_096_000,
        openFileDescriptors: 2,
        diskRead: 4096,
        diskWritten: 8192,
        containerPid: 1,
      },
    ]);
  });

  test("at most `max`, by memory use; `total` counts all", async () => {
    const files = new FakeProc({
      ...process(1, { pages: 1 }),
      ...process(2, { pages: 9 }),
      ...process(3, { pages: 5 }),
    });
    const { processes, total } = await open(files, [1, 2, 3]).processes({ max: 2 });
    expect(processes.map(({ pid }) => pid)).toEqual([2, 3]);
    expect(total).toBe(3);
  });

  test.each([
    ["ENOENT at open", "900/stat", "ENOENT"],
    ["ESRCH at read", "900/stat", "ESRCH"],
    ["ENOENT of its cgroup", "900/cgroup", "ENOENT"],
  ])("C84: a process that vanishes (%s) is left out", async (_, path, code) => {
    const files = new FakeProc({ ...process(900), ...process(901), [path]: systemError(code) });
    const { processes } = await open(files, [900, 901]).processes();
    expect(processes.map(({ pid }) => pid)).toEqual([901]);
  });

  test("C84, parity P30: ESRCH at the link exe of a process that ends meanwhile leaves it out", async () => {
    const files = new FakeProc({ ...process(900), ...process(901), "900/exe": systemError("ESRCH") });
    files.before = (path) => {
      if (path === "900/exe") files.entries.delete("900/stat");
    };
    expect((await open(files, [900, 901]).processes()).processes.map(({ pid }) => pid)).toEqual([901]);
  });

  test("C84, parity P30: what our rights do not reach is null, and the process stays", async () => {
    const denied = Object.fromEntries(["io", "exe", "cwd", "fd"].map((name) => [`900/${name}`, systemError("EACCES")]));
    const [found] = (await open(new FakeProc({ ...process(900), ...denied }), [900]).processes()).processes;
    expect(found).toMatchObject({
      diskRead: null,
      diskWritten: null,
      executable: null,
      workingDirectory: null,
      openFileDescriptors: null,
      command: "app",
    });
  });

  test("C85: another process that gets the pid meanwhile is never mixed in", async () => {
    const files = new FakeProc(process(900));
    files.before = (path) => {
      if (path === "900/cmdline") files.entries.set("900/stat", statText(900, { start: 8000 }));
    };
    expect(await open(files, [900]).processes()).toEqual({ processes: [], total: 0 });
  });

  test("C85: a pid that is used again has another identity", async () => {
    const files = new FakeProc(process(900, { start: 1000, user: 5000 }));
    const access = open(files, [900]);
    const before = (await access.processes()).processes[0];
    files.entries.set("900/stat", statText(900, { start: 8000, user: 3 }));
    const after = (await access.processes()).processes[0];
    expect([before?.startTicks, after?.startTicks]).toEqual([1000, 8000]);
  });

  test("a pid that another container has got is left out", async () => {
    const files = new FakeProc({ ...process(900), "900/cgroup": `0::/docker/${"b2".repeat(32)}\n` });
    expect((await open(files, [900]).processes()).processes).toEqual([]);
  });

  test("a kernel thread has neither memory nor arguments", async () => {
    const files = new FakeProc({
      "2/stat": statText(2, { command: "kthreadd" }),
      "2/status": "Tgid:\t2\nUid:\t0\t0\t0\t0\n",
      "2/cmdline": "",
      "2/cgroup": "0::/\n",
    });
    const access = open(files, [2], { belongs: () => true });
    expect((await access.processes()).processes[0]).toMatchObject({
      commandLine: [],
      memoryUsage: null,
      executable: null,
    });
  });

  test("commands are pid and name alone", async () => {
    const files = new FakeProc({ ...process(1, { command: "nginx" }), ...process(2) });
    expect(await open(files, [1, 2, 3]).commands()).toEqual([
      { pid: 1, command: "nginx" },
      { pid: 2, command: "app" },
    ]);
  });

  test("a signal that has aborted stops it", async () => {
    const access = open(new FakeProc(process(900)), [900]);
    await expect(access.processes({ signal: AbortSignal.abort() })).rejects.toThrow();
    await expect(access.commands({ signal: AbortSignal.abort() })).rejects.toThrow();
  });
});

describe("environment", () => {
  test("names of the first process, sorted", async () => {
    const files = new FakeProc({ ...process(5, { start: 9 }), ...process(6, { start: 3 }), "6/environ": "OLDEST=1\0" });
    expect(await open(files, [5, 6]).environmentNames()).toEqual(["OLDEST"]);
    expect(await open(files, [5, 6], { firstPid: 5 }).environmentNames()).toEqual(["A", "B"]);
  });

  test("without the right to read it: TRAWLER_DENIED; without a process: TRAWLER_GONE", async () => {
    const files = new FakeProc({ ...process(5), "5/environ": systemError("EACCES") });
    await expect(open(files, [5]).environmentNames()).rejects.toMatchObject({ code: "TRAWLER_DENIED" });
    await expect(open(files, [7]).environmentNames()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  });
});
