import { describe, expect, test } from "vitest";
import { SocketTables } from "../../src/network/socket-tables.ts";
import { parseSockets, uniqueSockets } from "../../src/network/sockets.ts";
import { openProcessAccess } from "../../src/proc/process-access.ts";
import { FakeProc, statText, systemError } from "../fake-proc.ts";

const row = (local: string, remote: string, state: string, inode: number): string =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000   999        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`;
const HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const ANY = "00000000:0000";
const ANY6 = `${"0".repeat(32)}:0000`;

/** A `/proc` with processes that hold sockets by inode, and the tables of one namespace. */
function namespace(holders: Readonly<Record<number, readonly number[]>>, tables: Readonly<Record<string, string>>) {
  const entries: Record<string, string | Error> = {};
  for (const [pid, inodes] of Object.entries(holders)) {
    entries[`${pid}/stat`] = statText(Number(pid));
    entries[`${pid}/cgroup`] = "0::/x\n";
    entries[`${pid}/fd/0`] = "/dev/null";
    inodes.forEach((inode, index) => {
      entries[`${pid}/fd/${index + 3}`] = `socket:[${inode}]`;
    });
    for (const [table, text] of Object.entries(tables)) entries[`${pid}/net/${table}`] = text;
  }
  return new FakeProc(entries);
}

function open(files: FakeProc, pids: readonly number[], hostNetwork = false) {
  return openProcessAccess({
    files,
    bootTime: () => 0,
    pids: () => pids,
    belongs: () => true,
    tables: new SocketTables(files, { pids: () => pids, belongs: () => true }),
    hostNetwork: () => hostNetwork,
  });
}

describe("C88: sockets", () => {
  test("an IPv4 address in a socket of both families is an IPv4 socket, and counts once", () => {
    const v6 = parseSockets(HEADER + row("0000000000000000FFFF0000070200C0:18EB", ANY6, "0A", 7), "tcp6", 100);
    const v4 = parseSockets(HEADER + row("070200C0:18EB", ANY, "0A", 8), "tcp", 100);
    const unique = uniqueSockets([...v4, ...v6].map((socket) => ({ ...socket, pid: null })));
    expect(unique).toEqual([
      {
        protocol: "tcp",
        localAddress: "192.0.2.7",
        localPort: 6379,
        remoteAddress: null,
        remotePort: null,
        state: "LISTEN",
        inode: 7,
        pid: null,
      },
    ]);
  });

  test("`::` stays one socket of both families", () => {
    const [socket] = parseSockets(row(`${"0".repeat(32)}:0050`, ANY6, "0A", 1), "tcp6", 1);
    expect(socket).toMatchObject({ protocol: "tcp6", localAddress: "::", localPort: 80 });
  });

  test("parity P12: addresses as people write them", () => {
    const rows =
      row("0100007F:9B4E", "0A05580A:18EB", "01", 1) + row("B80D0120000000000000000001000000:0001", ANY6, "06", 0);
    expect(parseSockets(rows.split("\n")[0] ?? "", "tcp", 9)[0]).toMatchObject({
      localAddress: "127.0.0.1",
      remoteAddress: "10.88.5.10",
      remotePort: 6379,
      state: "ESTABLISHED",
    });
    expect(parseSockets(rows.split("\n")[1] ?? "", "tcp6", 9)[0]).toMatchObject({
      localAddress: "2001:db8::1",
      state: "TIME-WAIT",
      inode: 0,
    });
  });

  test("no IPv6 tables: no IPv6, and no error", async () => {
    const files = namespace({ 5: [1] }, { tcp: row("00000000:0050", ANY, "0A", 1) });
    const { sockets, total, attributed } = await open(files, [5]).sockets();
    expect(sockets).toMatchObject([{ localPort: 80, pid: 5 }]);
    expect({ total, attributed }).toEqual({ total: 1, attributed: true });
  });

  test("C30: in the node's network only what the container's own processes hold is its own", async () => {
    const ports = Array.from({ length: 40 }, (_, index) =>
      row(`00000000:${(8000 + index).toString(16).toUpperCase()}`, ANY, "0A", 100 + index),
    );
    const files = namespace({ 5: [103], 6: [104] }, { tcp: ports.join("") });
    expect((await open(files, [5], true).sockets()).sockets).toMatchObject([{ localPort: 8003, pid: 5 }]);
    expect((await open(files, [5], false).sockets()).total).toBe(40);
    const denied = namespace({ 5: [103] }, { tcp: ports.join("") });
    denied.entries.set("5/fd", systemError("EACCES"));
    expect(await open(denied, [5], true).sockets()).toEqual({ sockets: [], total: 0, attributed: false });
  });

  test("C117: two containers of one pod: each port is that of the one that holds it", async () => {
    const tables = { tcp: row("00000000:0050", ANY, "0A", 1) + row("00000000:1F90", ANY, "0A", 2) };
    const files = namespace({ 5: [1], 6: [2] }, tables);
    const byPort = async (pid: number) =>
      Object.fromEntries((await open(files, [pid]).sockets()).sockets.map((socket) => [socket.localPort, socket.pid]));
    expect(await byPort(5)).toEqual({ 80: 5, 8080: null });
    expect(await byPort(6)).toEqual({ 80: null, 8080: 6 });
  });

  test("workers that share a port count once, and are attributed", async () => {
    const tables = { tcp: row("00000000:0050", ANY, "0A", 1) + row("00000000:0050", ANY, "0A", 2) };
    const { sockets } = await open(namespace({ 5: [2] }, tables), [5]).sockets();
    expect(sockets).toMatchObject([{ localPort: 80, inode: 2, pid: 5 }]);
  });

  test("the first process has gone: the next one's namespace is read; none left: TRAWLER_GONE", async () => {
    const files = namespace({ 6: [1] }, { tcp: row("00000000:0050", ANY, "0A", 1) });
    expect((await open(files, [5, 6]).sockets()).total).toBe(1);
    await expect(open(files, [5]).sockets()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  });

  test("`/proc/PID/fd` not readable: sockets without a process, and it says so", async () => {
    const files = namespace({ 5: [1] }, { tcp: row("00000000:0050", ANY, "0A", 1) });
    files.entries.set("5/fd", systemError("EACCES"));
    const { sockets, attributed } = await open(files, [5]).sockets();
    expect(attributed).toBe(false);
    expect(sockets).toMatchObject([{ localPort: 80, pid: null }]);
  });

  test("at most `max`, what listens first; `total` counts all", async () => {
    const rows = Array.from({ length: 300 }, (_, index) =>
      row("0100007F:9B4E", `0100007F:${(index + 256).toString(16).padStart(4, "0").toUpperCase()}`, "01", index + 10),
    );
    const files = namespace({ 5: [] }, { tcp: rows.join("") + row("00000000:0050", ANY, "0A", 1) });
    const { sockets, total } = await open(files, [5]).sockets({ max: 10 });
    expect(total).toBe(301);
    expect(sockets).toHaveLength(10);
    expect(sockets[0]?.state).toBe("LISTEN");
  });

  test("unix sockets with a name, abstract ones too; UDP waits for anyone", () => {
    const text = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 21 /run/my app.sock
0000000000000000: 00000003 00000000 00000000 0001 03 22 /run/my app.sock
0000000000000000: 00000003 00000000 00000000 0001 03 23
0000000000000000: 00000002 00000000 00000000 0002 01 24 @abstract
`;
    expect(parseSockets(text, "unix", 99)).toMatchObject([
      { localAddress: "/run/my app.sock", state: "LISTEN", localPort: 0, inode: 21 },
      { state: "ESTABLISHED", inode: 22 },
      { localAddress: "@abstract", state: "UNCONN" },
    ]);
    expect(parseSockets(row("00000000:0035", ANY, "07", 9), "udp", 9)).toMatchObject([
      { protocol: "udp", state: "UNCONN" },
    ]);
  });

  test("the tables are read once for all who ask at the same time, and not kept where they have gone", async () => {
    const files = namespace({ 5: [1] }, { tcp: row("00000000:0050", ANY, "0A", 1) });
    let reads = 0;
    files.before = (path) => {
      if (path === "5/net/tcp") reads += 1;
    };
    const tables = new SocketTables(files, { pids: () => [5], belongs: () => true });
    const [one, two] = await Promise.all([tables.rows(), tables.rows()]);
    expect(one).toBe(two);
    expect(reads).toBe(1);
    const gone = new SocketTables(files, { pids: () => [6], belongs: () => true });
    await expect(gone.rows()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
    await expect(gone.rows()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  });

  test("garbage gives nothing", () => {
    for (const text of [
      "",
      "\0\0\0",
      "a b c d e f g h i j k l\n",
      HEADER,
      "0: 0100007F:9B4E 0100007F 0A x x x x x 1\n",
    ]) {
      expect(parseSockets(text, "tcp", 9)).toEqual([]);
    }
    expect(parseSockets(row("0100007F:9B4E", ANY, "FF", 1), "tcp", 9)).toEqual([]);
  });
});
