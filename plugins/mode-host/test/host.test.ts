import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Access, Workload } from "@trawler/plugin-api";
import { fakeContext, fakeHost, fakeWorkload, modeContract } from "@trawler/testkit";
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

async function open() {
  const instance = await mode.create({}, fakeHost());
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

  test("figures lie between two readings of an independent one", async () => {
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

  test("a socket that listens is seen, with the process that holds it, and can be connected to", async () => {
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
