import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Access, Workload } from "@trawler/plugin-api";
import { fakeContext, fakeHost, fakeNode, fakeWorkload, modeContract } from "@trawler/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import mode from "../src/index.ts";

const workload: Workload = fakeWorkload({
  kind: "host",
  id: "node-a",
  name: "node-a",
  handle: { pid: 1 },
  containers: [],
});

function need<C extends keyof Access>(access: Partial<Access>, capability: C): Access[C] {
  const found = access[capability];
  if (found === undefined) throw new Error(`no ${capability}`);
  return found;
}

async function open(paths = fakeNode.paths) {
  const instance = await mode.create({}, fakeHost({ node: { ...fakeNode, paths } }));
  onTestFinished(async () => instance[Symbol.asyncDispose]?.());
  const subject = await instance.open(workload, fakeContext());
  onTestFinished(() => subject[Symbol.asyncDispose]());
  return subject.access;
}

describe("contract", () => {
  for (const { name, run } of modeContract(mode, { world: async () => ({ workload }) })) test(name, run);
});

describe("this machine", () => {
  test("processes: this one among them, whole", async () => {
    const proc = need(await open(), "proc");
    expect((await proc.commands()).map(({ pid }) => pid)).toContain(process.pid);
    const { processes, total } = await proc.processes({ max: 32_768 });
    expect(total).toBeGreaterThan(0);
    const self = processes.find(({ pid }) => pid === process.pid);
    expect(self).toMatchObject({
      parentPid: process.ppid,
      executable: process.execPath,
      workingDirectory: process.cwd(),
    });
    expect(self?.memoryUsage).toBeGreaterThan(1_000_000);
    expect(self?.openFileDescriptors).toBeGreaterThan(3);
    const start = Date.now() - process.uptime() * 1000;
    expect(Math.abs(Date.parse(self?.startedAt ?? "") - start)).toBeLessThan(60_000);
  });

  test("parity P13: figures lie between two readings of an independent one", async () => {
    const cgroup = need(await open(), "cgroup");
    const ticks = (): number => {
      const [, user, nice, system, , , irq, softirq] = readFileSync("/proc/stat", "utf8").split(/\s+/).map(Number);
      return ((user ?? 0) + (nice ?? 0) + (system ?? 0) + (irq ?? 0) + (softirq ?? 0)) / 100;
    };
    const before = ticks();
    const { time } = await cgroup.cpu();
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(ticks());
    const memory = await cgroup.memory();
    expect(memory.usage).toBeLessThan(memory.limit ?? 0);
    expect((await cgroup.pids()).current).toBeGreaterThan(0);
  });

  test("parity P31: a socket that listens is seen, with the process that holds it, and can be connected to", async () => {
    const server = createServer((socket) => socket.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const access = await open();
    const { sockets, attributed } = await need(access, "proc").sockets({ max: 100_000 });
    const found = sockets.find(({ localPort, state }) => localPort === port && state === "LISTEN");
    // Another network namespace than the node's first process has, as in a container: nothing to see there.
    if (found === undefined) return;
    expect(found).toMatchObject({ protocol: "tcp", localAddress: "127.0.0.1", remoteAddress: null });
    if (attributed) expect(found.pid).toBe(process.pid);
  });

  test("files and interfaces of the host", async () => {
    const access = await open();
    expect((await need(access, "fs").stat("/etc")).type).toBe("directory");
    expect((await need(access, "net").interfaces()).map(({ name }) => name)).not.toContain("lo");
  });
});

test("C87: where the node's /proc is mounted elsewhere its first process is the one there, never ours", async () => {
  const root = mkdtempSync(join(tmpdir(), "trawler-mode-host-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const files = {
    "proc/stat": "cpu  1 0 1 9 0 0 0 0 0 0\ncpu0 1 0 1 9 0 0 0 0 0 0\nbtime 1700000000\n",
    "proc/1/stat": `1 (node-init) S 0 1 1 0 -1 4194560 0 0 0 0 50 25 0 0 20 0 1 0 1000 4096000 10 18446744073709551615 0\n`,
    "proc/1/status": "Name:\tnode-init\nTgid:\t1\nUid:\t0\t0\t0\t0\nThreads:\t1\n",
    "proc/1/cgroup": "0::/init.scope\n",
    "proc/1/cmdline": "/sbin/node-init\0",
    "proc/1/environ": "NODE_ONLY=1\0",
    "proc/1/net/dev": "  eth9: 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0\n",
    "proc/1/net/tcp": "",
    "etc/os-release": "ID=node\n",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const access = await open({ root, proc: join(root, "proc"), cgroup: join(root, "sys/fs/cgroup") });
  const proc = need(access, "proc");
  expect(await proc.commands()).toEqual([{ pid: 1, command: "node-init" }]);
  expect((await proc.processes()).processes).toMatchObject([{ pid: 1, commandLine: ["/sbin/node-init"] }]);
  expect(await proc.environmentNames()).toEqual(["NODE_ONLY"]);
  expect((await need(access, "net").interfaces()).map(({ name }) => name)).toEqual(["eth9"]);
  expect((await need(access, "cgroup").cpu()).time).toBe(0.02);
  expect(await need(access, "fs").readText("/etc/os-release")).toBe("ID=node\n");
});
