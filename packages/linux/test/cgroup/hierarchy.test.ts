import { describe, expect, test } from "vitest";
import { hierarchyFolders, hierarchyOfMounts, hierarchyOfNames } from "../../src/cgroup/hierarchy.ts";
import { parseMountinfo } from "../../src/proc/mountinfo.ts";

const line = (mountPoint: string, type: string, options: string): string =>
  `30 29 0:26 / ${mountPoint} rw,nosuid shared:8 - ${type} cgroup ${options}\n`;

describe("C76: which hierarchy", () => {
  test.each(["cpuacct,cpu", "cpu,cpuacct"])("parity C10: v1 controllers that are mounted together (%s)", (together) => {
    const text =
      line(`/sys/fs/cgroup/${together}`, "cgroup", `rw,${together}`) +
      line("/sys/fs/cgroup/memory", "cgroup", "rw,memory");
    const { unified, v1 } = hierarchyOfMounts(parseMountinfo(text), "/sys/fs/cgroup");
    expect(unified).toBeNull();
    expect(Object.fromEntries(v1)).toEqual({
      cpu: `/sys/fs/cgroup/${together}`,
      cpuacct: `/sys/fs/cgroup/${together}`,
      memory: "/sys/fs/cgroup/memory",
    });
  });

  test("hybrid: memory stays with v1 though a unified hierarchy is there", () => {
    const text =
      line("/sys/fs/cgroup/memory", "cgroup", "rw,memory") +
      line("/sys/fs/cgroup/systemd", "cgroup", "rw,xattr,name=systemd") +
      line("/sys/fs/cgroup/unified", "cgroup2", "rw,nsdelegate");
    const hierarchy = hierarchyOfMounts(parseMountinfo(text), "/sys/fs/cgroup");
    expect(hierarchy.v1.get("memory")).toBe("/sys/fs/cgroup/memory");
    expect(hierarchy.unified).toBe("/sys/fs/cgroup/unified");
    expect(hierarchyFolders(hierarchy)).toEqual(["/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"]);
  });

  test("a mount of the node below a folder of the agent's, and none beside it", () => {
    const text =
      line("/sys/fs/cgroup", "cgroup2", "rw") +
      line("/host/sys/fs/cgroup", "cgroup2", "rw") +
      line("/host/sys/fs/cgroup2", "cgroup2", "rw");
    expect(hierarchyOfMounts(parseMountinfo(text), "/host/sys/fs/cgroup").unified).toBe("/host/sys/fs/cgroup");
  });

  test("by names, where no mount says it", () => {
    expect(hierarchyOfNames(["cgroup.controllers", "cpu.stat"], "/x")).toEqual({ unified: "/x", v1: new Map() });
    const { unified, v1 } = hierarchyOfNames(["cpu,cpuacct", "memory", "unified", "net_cls"], "/x");
    expect(unified).toBe("/x/unified");
    expect([...v1]).toEqual([
      ["cpu", "/x/cpu,cpuacct"],
      ["cpuacct", "/x/cpu,cpuacct"],
      ["memory", "/x/memory"],
    ]);
  });

  test("mount points with blanks are read as they are", () => {
    const [mount] = parseMountinfo(
      "36 35 98:0 /mnt1 /mnt\\040two rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n",
    );
    expect(mount).toMatchObject({ id: 36, device: "98:0", root: "/mnt1", mountPoint: "/mnt two", fileSystem: "ext3" });
  });
});
