import { describe, expect, test } from "vitest";
import { SocketTables } from "../../src/network/socket-tables.ts";
import { parseDisks } from "../../src/proc/diskstats.ts";
import { parseLoad } from "../../src/proc/load.ts";
import { openProcessAccess, type ProcessAccessOptions } from "../../src/proc/process-access.ts";
import { FakeProc, statText } from "../fake-proc.ts";

const tables = (files: FakeProc): SocketTables => new SocketTables(files, { pids: () => [], belongs: () => true });

function open(files: FakeProc, pids: readonly number[], options: Partial<ProcessAccessOptions> = {}) {
  const base = { files, bootTime: () => 0, pids: () => pids, tables: tables(files), hostNetwork: () => false };
  return openProcessAccess({ ...base, ...options });
}

const inState = (state: string, pid: number): string => statText(pid).replace(") S ", `) ${state} `);

describe("load", () => {
  test("the host's averages are the kernel's, each its own", async () => {
    expect(parseLoad("1.00 2.00 3.00 2/345 6789\n")).toEqual({
      average1: 1,
      average5: 2,
      average15: 3,
      running: 2,
      uninterruptible: null,
      total: 345,
    });
    expect(await open(new FakeProc({ loadavg: "0.20 0.18 0.12 1/80 11206\n" }), []).load()).toMatchObject({
      average15: 0.12,
      total: 80,
    });
  });

  test.each(["", "garbage", "1 2 3", "-1.00 NaN 3.00 x/y 1"])("%j is not known", (text) => {
    expect(parseLoad(text)).toMatchObject({ average1: null, running: null, total: null });
  });

  test("a member has no averages: its tasks are counted by state", async () => {
    const files = new FakeProc({
      loadavg: "9.00 9.00 9.00 9/999 1\n",
      "5/stat": inState("S", 5),
      "5/task/5/stat": inState("S", 5),
      "5/task/6/stat": inState("R", 6),
      "5/task/7/stat": inState("D", 7),
      "8/stat": inState("D", 8).replace(" 20 0 3 ", " 20 0 1 "),
    });
    expect(await open(files, [5, 8, 9], { belongs: () => true }).load()).toEqual({
      average1: null,
      average5: null,
      average15: null,
      running: 1,
      uninterruptible: 2,
      total: 4,
    });
  });

  test("of more tasks than are read only the number is known", async () => {
    const files = new FakeProc({ "5/stat": statText(5).replace(" 20 0 3 ", " 20 0 5000 ") });
    const load = await open(files, [5], { belongs: () => true }).load();
    expect(load).toMatchObject({ running: null, uninterruptible: null, total: 5000 });
  });
});

describe("disks", () => {
  // Of a virtual machine with Linux 6.12.
  const VDA =
    " 254       0 vda 1153544 91443 28323362 4317696 1505941 1124594 104576376 1223887 3 413316 5741906 669844 319 69055440 120452 386595 79870\n";

  test("every field, in base units", () => {
    expect(parseDisks(VDA)).toEqual([
      {
        device: "254:0",
        name: "vda",
        partition: false,
        readOperations: 1_153_544,
        readMerged: 91_443,
        readBytes: 28_323_362 * 512,
        readTime: 4317.696,
        writeOperations: 1_505_941,
        writeMerged: 1_124_594,
        writtenBytes: 104_576_376 * 512,
        writeTime: 1223.887,
        pending: 3,
        ioTime: 413.316,
        weightedIoTime: 5741.906,
      },
    ]);
  });

  test("partitions say so, and a member has none", async () => {
    const text = VDA + VDA.replace("vda", "vda1").replace("254       0", "254       1");
    expect(parseDisks(text).map(({ name, partition }) => [name, partition])).toEqual([
      ["vda", false],
      ["vda1", true],
    ]);
    const files = new FakeProc({ diskstats: text });
    expect(await open(files, []).disks()).toHaveLength(2);
    await expect(open(files, [], { belongs: () => true }).disks()).rejects.toMatchObject({
      code: "TRAWLER_UNSUPPORTED",
    });
  });
});
