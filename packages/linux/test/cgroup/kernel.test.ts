import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { hierarchyFolders } from "../../src/cgroup/hierarchy.ts";
import { cgroupPids } from "../../src/cgroup/processes.ts";
import { NodeReader } from "../../src/node/node-reader.ts";

const clock = { now: () => 0, monotonic: () => 0 };
const paths = { root: "/", proc: "/proc", cgroup: "/sys/fs/cgroup" };
const name = `/trawler-test-${process.pid}`;

/** Makes a cgroup in the node's most telling hierarchy; false where we may not. */
function makeCgroup(folder: string | undefined): boolean {
  if (folder === undefined) return false;
  try {
    mkdirSync(join(folder, name));
    return true;
  } catch {
    return false;
  }
}

describe("on the running kernel", () => {
  test("a removed cgroup is TRAWLER_GONE, and one made again under its name is not taken for it", async (context) => {
    const node = new NodeReader(paths, clock);
    const [folder = ""] = hierarchyFolders(node.hierarchy);
    if (!makeCgroup(folder)) context.skip("making a cgroup takes root and a writable hierarchy");
    onTestFinished(() => rmdirSync(join(folder, name)));

    using reader = node.openCgroup(name);
    expect((await reader.memory()).usage).toEqual(expect.any(Number));
    expect(cgroupPids(node.hierarchy, name, node.files, node.buffer)).toEqual([]);
    rmdirSync(join(folder, name));
    await expect(reader.memory()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
    expect(() => cgroupPids(node.hierarchy, name, node.files, node.buffer)).toThrow(
      expect.objectContaining({ code: "TRAWLER_GONE" }),
    );
    mkdirSync(join(folder, name));
    await expect(reader.memory()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
    expect(reader.gone).toBe(true);
  });

  test("a cgroup that never was is TRAWLER_GONE", async () => {
    const node = new NodeReader(paths, clock);
    using reader = node.openCgroup("/no/such/cgroup");
    for (const read of [reader.cpu(), reader.memory(), reader.block(), reader.pids()]) {
      await expect(read).rejects.toMatchObject({ code: "TRAWLER_GONE" });
    }
  });

  test("a closed reader answers no more", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trawler-cgroup-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "cgroup.controllers"), "memory\n");
    mkdirSync(join(folder, "a"));
    writeFileSync(join(folder, "a/memory.current"), "5\n");
    const node = new NodeReader({ root: "/", proc: "/proc", cgroup: folder }, clock);
    const reader = node.openCgroup("/a");
    expect((await reader.memory()).usage).toBe(5);
    reader[Symbol.dispose]();
    await expect(reader.memory()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  });
});
