import { Socket } from "node:net";
import { type ProcessAccess, type SocketStatus, unsupported } from "@trawler/plugin-api";
import { describe, expect, test } from "vitest";
import type { ConnectMember, ConnectTarget } from "../../src/namespace/connector.ts";
import { SocketTables } from "../../src/network/socket-tables.ts";
import { openNetwork } from "../../src/node/subject-network.ts";
import { FakeProc, statText } from "../fake-proc.ts";

const listening = (localPort: number, pid: number | null): SocketStatus => ({
  protocol: "tcp",
  localAddress: "0.0.0.0",
  localPort,
  remoteAddress: null,
  remotePort: null,
  state: "LISTEN",
  inode: localPort,
  pid,
});

function holding(sockets: readonly SocketStatus[], attributed = true): ProcessAccess {
  return {
    commands: async () => [],
    processes: async () => ({ processes: [], total: 0 }),
    sockets: async () => ({ sockets, total: sockets.length, attributed }),
    environmentNames: async () => [],
    load: async () => Promise.reject(unsupported("not asked for here")),
    disks: async () => [],
    gpus: async () => [],
  };
}

/** A network over a fake `/proc`, and what its connector was asked for. */
function network(files: FakeProc, hostNetwork: boolean, proc: ProcessAccess) {
  const asked: [ConnectMember, ConnectTarget][] = [];
  const namespace = { pids: () => [5, 6], belongs: () => true };
  const net = openNetwork(
    files,
    {
      ...namespace,
      hostNetwork: () => hostNetwork,
      tables: new SocketTables(files, namespace),
      addresses: () => ["10.88.0.5"],
    },
    proc,
    {
      connect: async (member, target) => {
        asked.push([member, target]);
        return new Socket();
      },
    },
  );
  return { net, asked };
}

describe("connect", () => {
  test("goes to a live process of the namespace, by its identity, with the pod's own addresses", async () => {
    const files = new FakeProc({ "6/stat": statText(6, { start: 77 }) });
    const { net, asked } = network(files, false, holding([]));
    await net.connect({ port: 6379 });
    expect(asked).toEqual([[{ pid: 6, startTicks: 77, procRoot: "/proc", addresses: ["10.88.0.5"] }, { port: 6379 }]]);
  });

  test("a socket file is found in the root of the member's own process, not of the sandbox", async () => {
    const files = new FakeProc({ "5/stat": statText(5), "9/stat": statText(9, { start: 8 }) });
    const proc = { ...holding([]), commands: async () => [{ pid: 9, command: "redis-server" }] };
    const { net, asked } = network(files, false, proc);
    await net.connect({ unix: "/tmp/redis.sock" });
    await net.connect({ unix: "@abstract" });
    expect(asked.map(([{ pid }]) => pid)).toEqual([9, 5]);
  });

  test("with no process left: TRAWLER_GONE", async () => {
    const { net } = network(new FakeProc({}), false, holding([]));
    await expect(net.connect({ port: 1 })).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  });

  test("C30: in the node's network only to a port that the subject's own process listens on", async () => {
    const files = new FakeProc({ "5/stat": statText(5) });
    const { net, asked } = network(files, true, holding([listening(6379, 5), listening(80, null)]));
    await net.connect({ port: 6379 });
    await expect(net.connect({ port: 80 })).rejects.toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
    await expect(net.connect({ port: 81 })).rejects.toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
    expect(asked).toHaveLength(1);
  });

  test("C30: the same where only the namespace itself tells that it is the node's", async () => {
    const files = new FakeProc({ "1/ns/net": "net:[1]", "5/ns/net": "net:[1]", "5/stat": statText(5) });
    const { net, asked } = network(files, false, holding([], false));
    await expect(net.connect({ port: 80 })).rejects.toMatchObject({ code: "TRAWLER_DENIED" });
    expect(asked).toEqual([]);
  });
});
