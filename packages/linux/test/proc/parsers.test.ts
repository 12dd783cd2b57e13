import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseHostCpu, parseHostMemory, parseHostPids } from "../../src/cgroup/host.ts";
import { parseInterfaces } from "../../src/network/interfaces.ts";
import { parseDiskstats } from "../../src/proc/diskstats.ts";
import { parseEnvironmentNames } from "../../src/proc/environ.ts";
import { parseProcessIo } from "../../src/proc/io.ts";
import { parseMountinfo } from "../../src/proc/mountinfo.ts";
import { parseProcessStat } from "../../src/proc/stat.ts";
import { parseProcessStatus } from "../../src/proc/status.ts";
import { parseMeminfo, parseSystemStat, parseUptime } from "../../src/proc/system.ts";
import { CAPTURES, Capture } from "../captured.ts";
import { statText } from "../fake-proc.ts";

describe.each(CAPTURES)("%s", { timeout: 60_000 }, (name) => {
  let capture: Capture;
  beforeAll(() => {
    capture = new Capture(name, ["sample2/proc/*"]);
  }, 60_000);
  afterAll(() => capture[Symbol.dispose]());
  const read = (...path: readonly string[]): string => readFileSync(join(capture.proc(2), ...path), "utf8");

  test("stat, status and io of every process", () => {
    expect(capture.pids(2).length).toBeGreaterThan(5);
    for (const pid of capture.pids(2)) {
      const stat = parseProcessStat(read(`${pid}`, "stat"));
      const status = parseProcessStatus(read(`${pid}`, "status"));
      expect(stat).toMatchObject({
        pid,
        command: read(`${pid}`, "comm").trim(),
        state: expect.stringMatching(/^[A-Z]$/),
      });
      expect(status).toMatchObject({ threadGroup: pid, threads: stat?.threads, memoryVirtual: stat?.virtualBytes });
      // Every one of these runs in a container, most with processes of its own numbering.
      expect(status.userId).toEqual(expect.any(Number));
      expect(parseProcessIo(read(`${pid}`, "io")).read).toEqual(expect.any(Number));
    }
  });

  test("the machine's figures", () => {
    const stat = parseSystemStat(read("stat"));
    expect(stat.processors).toBeGreaterThan(0);
    expect(stat.bootTime).toBeGreaterThan(1_500_000_000);
    const cpu = parseHostCpu(read("stat"), 1);
    expect((cpu.user ?? 0) + (cpu.system ?? 0)).toBeCloseTo(cpu.time ?? 0, 6);
    expect(cpu.limit).toBe(stat.processors);
    const memory = parseHostMemory(read("meminfo"), read("vmstat"));
    expect(memory.limit).toBe(parseMeminfo(read("meminfo")).get("MemTotal"));
    expect(memory.usage).toBeLessThan(memory.limit ?? 0);
    expect(memory.workingSet).toBeLessThanOrEqual(memory.usage ?? 0);
    expect(memory.outOfMemoryKills).toEqual(expect.any(Number));
    expect(parseHostPids(read("loadavg"), "", "").current).toBeGreaterThan(10);
    expect(parseUptime(read("uptime"))).toBeGreaterThan(10);
    for (const { device, readBytes } of parseDiskstats(read("diskstats"))) {
      expect(device).toMatch(/^\d+:\d+$/);
      expect(readBytes).toEqual(expect.any(Number));
    }
  });

  test("mounts and interfaces of every process", () => {
    for (const pid of capture.pids(2)) {
      const interfaces = parseInterfaces(read(`${pid}`, "net/dev"));
      expect(interfaces.map(({ name }) => name)).not.toContain("lo");
      for (const { receivedBytes } of interfaces) expect(receivedBytes).toEqual(expect.any(Number));
      if (name === "cgroup1-host") continue;
      const mounts = parseMountinfo(read(`${pid}`, "mountinfo"));
      expect(mounts[0]).toMatchObject({ mountPoint: "/" });
    }
  });

  test("parity P33: environments: names alone, nothing where a program wrote its title over them", () => {
    for (const pid of capture.pids(2)) {
      const names = parseEnvironmentNames(read(`${pid}`, "environ"));
      for (const name of names) expect(name).toMatch(/^[\w.-]+$/);
      if (/^(nginx|redis-server)$/.test(read(`${pid}`, "comm").trim())) expect(names).toEqual([]);
    }
  });
});

describe("hostile and odd input", () => {
  test("a name with blanks and brackets, as a program may choose it", () => {
    expect(parseProcessStat(statText(5, { command: "a) R 1 (b", start: 77 }))).toMatchObject({
      command: "a) R 1 (b",
      startTicks: 77,
      userTicks: 50,
      systemTicks: 25,
    });
  });

  test.each(["", "garbage", "1 (x", "1 (x) S 1 2", "x (y) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"])(
    "%j is no stat",
    (text) => {
      expect(parseProcessStat(text)).toBeNull();
    },
  );

  test("a status that lacks everything is null everywhere", () => {
    expect(Object.values(parseProcessStatus("")).every((value) => value === null)).toBe(true);
  });

  test("a process in the node's own pid namespace has no other pid", () => {
    expect(parseProcessStatus("NSpid:\t948\n").innermostPid).toBeNull();
    expect(parseProcessStatus("NSpid:\t948\t17\t1\n").innermostPid).toBe(1);
  });

  test("C87: an environment of 2 MiB gives at most 1,000 names and no value", () => {
    const names = parseEnvironmentNames(
      Array.from({ length: 100_000 }, (_, index) => `NAME_${index}=secret`).join("\0"),
    );
    expect(names).toHaveLength(1000);
    expect(names.join()).not.toContain("secret");
    expect(parseEnvironmentNames("PATH=/bin\0 bad=1\0=x\0title without equals\0A=b=c\0")).toEqual(["A", "PATH"]);
  });

  test("disks: no partitions, no loops, none that was never used", () => {
    const line = (name: string, count: number): string => `   8  0 ${name} ${count} 0 16 0 ${count} 0 8 0 0 0 0\n`;
    const names = ["sda1", "nvme0n1p2", "loop0", "ram0", "mmcblk0p1", "sr0"].map((name) => line(name, 5)).join("");
    expect(parseDiskstats(names + line("sdb", 0))).toEqual([]);
    expect(parseDiskstats(`${line("sda", 5)}${line("nvme0n1", 1)}${line("dm-0", 1)}nonsense\n`)).toHaveLength(3);
    expect(parseDiskstats(line("sda", 5))[0]).toEqual({
      device: "8:0",
      readBytes: 8192,
      writtenBytes: 4096,
      readOperations: 5,
      writeOperations: 5,
    });
  });
});
