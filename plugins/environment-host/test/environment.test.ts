import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentContract, fakeHost, fakeNode } from "@trawler/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { hostWorkload, parseMachineId } from "../src/environment.ts";
import environment from "../src/index.ts";

const ID = "0123456789abcdef0123456789abcdef";

/** A folder that stands for the host's root. */
function root(machineId: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), "trawler-host-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "etc"));
  if (machineId !== null) writeFileSync(join(folder, "etc/machine-id"), machineId);
  return folder;
}

async function reported(folder: string, proc = "/proc") {
  const node = { ...fakeNode, paths: { ...fakeNode.paths, root: folder, proc } };
  const instance = await environment.create({}, fakeHost({ node }));
  const { signal } = new AbortController();
  const log = fakeHost().log;
  for await (const event of instance.discover({ signal, log })) {
    if (event.type === "added") return event.workload;
  }
  throw new Error("nothing was reported");
}

describe("contract", () => {
  for (const { name, run } of environmentContract(environment, { world: async () => ({}) })) test(name, run);
});

test("the host's id is its machine id, below the host's root", async () => {
  const workload = await reported(root(`${ID}\n`));
  expect(workload).toMatchObject({
    kind: "host",
    id: ID,
    name: "node-a",
    handle: { pid: 1 },
    containers: [],
    resource: { "host.name": "node-a", "host.id": ID, "os.type": "linux" },
  });
});

test("the kernel is what /proc below the host says, and absent where it says nothing", async () => {
  const folder = root(null);
  mkdirSync(join(folder, "proc/sys/kernel"), { recursive: true });
  writeFileSync(join(folder, "proc/sys/kernel/osrelease"), "6.12.8-amd64\n");
  writeFileSync(join(folder, "proc/sys/kernel/version"), "#1 SMP PREEMPT_DYNAMIC\n");
  expect((await reported(folder, join(folder, "proc"))).resource).toMatchObject({
    "os.description": "Linux 6.12.8-amd64 #1 SMP PREEMPT_DYNAMIC",
    "trawler.kernel.release": "6.12.8-amd64",
  });
  expect(Object.keys((await reported(folder, join(folder, "none"))).resource)).not.toContain("os.description");
});

test("parity P1: when the host started, and its addresses in its own namespace, whichever the agent is in", async () => {
  const folder = root(null);
  mkdirSync(join(folder, "proc/1/net"), { recursive: true });
  writeFileSync(join(folder, "proc/stat"), "cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8\nbtime 1000\n");
  writeFileSync(join(folder, "proc/1/net/fib_trie"), "Main:\n  |-- 1.1.1.1\n     /32 host LOCAL\n");
  writeFileSync(join(folder, "proc/1/net/if_inet6"), "20010db8000000000000000000000001 04 40 00 80 eth0\n");
  expect((await reported(folder, join(folder, "proc"))).resource).toMatchObject({
    "trawler.host.boot.time": "1970-01-01T00:16:40.000Z",
    "host.ip": ["1.1.1.1", "2001:db8::1"],
  });
  const { resource } = await reported(folder, join(folder, "none"));
  expect(Object.keys(resource)).not.toEqual(expect.arrayContaining(["trawler.host.boot.time"]));
  expect(Object.keys(resource)).not.toEqual(expect.arrayContaining(["host.ip"]));
});

test.each([null, "", "uninitialized\n", "not an id\n"])(
  "without a machine id (%j) it is the node's name",
  async (text) => {
    expect((await reported(root(text))).id).toBe("node-a");
  },
);

test("a link to it is followed inside the host's root, and not out of it", async () => {
  const folder = root(null);
  mkdirSync(join(folder, "var"));
  writeFileSync(join(folder, "var/id"), ID);
  symlinkSync("/var/id", join(folder, "etc/machine-id"));
  expect((await reported(folder)).id).toBe(ID);
});

test("a machine id is 32 hexadecimal digits", () => {
  expect(parseMachineId(` ${ID}\n`)).toBe(ID);
  expect(parseMachineId(ID.toUpperCase())).toBeNull();
  expect(hostWorkload(fakeNode, ID, {}).metadata.complete).toBe(true);
});

test("it is always found", async () => {
  const host = fakeHost();
  const { signal } = new AbortController();
  expect(await environment.detect?.({}, host, { signal, log: host.log })).toMatchObject({ found: true });
});
