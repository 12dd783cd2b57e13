import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SocketTables } from "../../src/network/socket-tables.ts";
import { ContainerReader, NodeReader } from "../../src/node/index.ts";
import { statText } from "../fake-proc.ts";

const OURS = "a".repeat(64);
const OTHER = "b".repeat(64);
const clock = { now: () => 0, monotonic: () => 0 };
let folder = "";

/** A node with cgroup v2 as an agent sees it that runs in a cgroup namespace of its own: it is process 42. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-own-"));
  const write = (path: string, text: string): void => {
    const file = join(folder, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
  };
  write("cgroup/cgroup.controllers", "cpu memory\n");
  write(`cgroup/kubepods/pod1/${OURS}/cgroup.procs`, "42\n");
  write(`cgroup/kubepods/pod2/${OTHER}/cgroup.procs`, "50\n");
  for (const [pid, cgroup] of [
    [42, "0::/\n"],
    [50, `0::/../../pod2/${OTHER}\n`],
  ] as const) {
    write(`proc/${pid}/stat`, statText(pid));
    write(`proc/${pid}/cgroup`, cgroup);
    write(`proc/${pid}/cmdline`, "app\0");
  }
  write("proc/stat", "btime 1\n");
  symlinkSync("42", join(folder, "proc", "self"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function open(id: string): ContainerReader {
  const node = new NodeReader({ root: "/", proc: join(folder, "proc"), cgroup: join(folder, "cgroup") }, clock);
  const namespace = { pids: () => [], belongs: () => false };
  const network = {
    ...namespace,
    hostNetwork: () => false,
    tables: new SocketTables(node.files, namespace),
    addresses: () => [],
  };
  return new ContainerReader(
    node,
    id,
    {},
    { network, connector: { connect: () => Promise.reject(new Error("unused")) } },
  );
}

test("the agent's own container has its processes, though they say that they are at the root", async () => {
  await using reader = open(OURS);
  const { processes } = await reader.access.proc.processes();
  expect(processes.map(({ pid }) => pid)).toEqual([42]);
});

test("a process at the root is of no other container", async () => {
  await using reader = open(OTHER);
  const { processes } = await reader.access.proc.processes();
  expect(processes.map(({ pid }) => pid)).toEqual([50]);
  expect(reader.belongs("0::/\n")).toBe(false);
});
