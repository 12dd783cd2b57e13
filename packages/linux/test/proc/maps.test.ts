import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SocketTables } from "../../src/network/socket-tables.ts";
import { ProcFileReader } from "../../src/proc/files.ts";
import { parseMappedFiles } from "../../src/proc/maps.ts";
import { openProcessAccess } from "../../src/proc/process-access.ts";
import { FakeProc, statText, systemError } from "../fake-proc.ts";

/** `sleep 60` of an alpine container, as the kernel writes it. */
const ALPINE = `5587a3c45000-5587a3c51000 r--p 00000000 00:2b 1312                       /bin/busybox
5587a3c51000-5587a3cf0000 r-xp 0000c000 00:2b 1312                       /bin/busybox
5587a49a0000-5587a49a1000 ---p 00000000 00:00 0                          [heap]
7f1e46a3c000-7f1e46a50000 r--p 00000000 00:2b 1403                       /lib/ld-musl-x86_64.so.1
7f1e46ae0000-7f1e46ae3000 rw-p 00000000 00:00 0
7ffd0b1b5000-7ffd0b1d6000 rw-p 00000000 00:00 0                          [stack]
`;

const line = (path: string, inode = 7): string => `7f00-7f01 r-xp 00000000 fe:00 ${inode}                   ${path}\n`;

test("parity P29: each file once, and nothing that is none", () => {
  const none = [line("/dev/zero (deleted)"), line("/SYSV0052e2c1 (deleted)"), line("anon_inode:[perf]"), line("/x", 0)];
  expect(parseMappedFiles(ALPINE + none.join(""), 10)).toEqual({
    paths: ["/bin/busybox", "/lib/ld-musl-x86_64.so.1"],
    truncated: false,
  });
});

test("parity 091: a deleted file is marked, blanks are kept, and a forged line is a part of its path", () => {
  const text =
    line("/srv/app (deleted)") + line("/memfd:x (deleted)") + line("/a  b\\0127f00-7f01 r-xp 0 fe:00 1 /bin/sh");
  expect(parseMappedFiles(text, 10).paths).toEqual([
    "/a  b\\0127f00-7f01 r-xp 0 fe:00 1 /bin/sh",
    "/memfd:x (deleted)",
    "/srv/app (deleted)",
  ]);
});

test("parity 091: a bound is told, and so is a text that was cut", () => {
  expect(parseMappedFiles(ALPINE, 1)).toEqual({ paths: ["/bin/busybox"], truncated: true });
  expect(parseMappedFiles(ALPINE.slice(0, 200), 9)).toEqual({ paths: ["/bin/busybox"], truncated: true });
  expect(parseMappedFiles("", 9)).toEqual({ paths: [], truncated: false });
  expect(parseMappedFiles("garbage\n\0\n", 9)).toEqual({ paths: [], truncated: false });
});

test("parity 091: read only where asked for; null where the process hides them", async () => {
  const files = new FakeProc({
    "5/stat": statText(5),
    "5/maps": ALPINE,
    "6/stat": statText(6),
    "6/maps": systemError("EACCES"),
  });
  const pids = [5, 6];
  const tables = new SocketTables(files, { pids: () => pids, belongs: () => true });
  const proc = openProcessAccess({ files, bootTime: () => 0, pids: () => pids, tables, hostNetwork: () => false });
  const asked = await proc.processes({ mappedFiles: 5 });
  expect(asked.processes.map(({ mappedFiles }) => mappedFiles?.paths[0] ?? mappedFiles)).toEqual([
    "/bin/busybox",
    null,
  ]);
  expect((await proc.processes()).processes.map((one) => "mappedFiles" in one)).toEqual([false, false]);
});

test("parity 091: of a real process all that its map holds", async () => {
  const files = new ProcFileReader("/proc");
  const pids = [process.pid];
  const tables = new SocketTables(files, { pids: () => pids, belongs: () => true });
  const proc = openProcessAccess({ files, bootTime: () => 0, pids: () => pids, tables, hostNetwork: () => false });
  const [self] = (await proc.processes({ mappedFiles: 1000 })).processes;
  expect(self?.mappedFiles?.paths).toContain(process.execPath);
  const lines = readFileSync("/proc/self/maps", "utf8").split("\n");
  const named = lines.flatMap((one) => / (\/\S.*)$/.exec(one)?.[1] ?? []);
  expect(named).toEqual(expect.arrayContaining([...(self?.mappedFiles?.paths ?? [""])]));
});
