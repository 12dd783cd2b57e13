import type { SocketStatus } from "@trawler/plugin-api";
import { fakeContainer, fakeWorkload } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import { ownSockets, rows } from "../src/rows.ts";

const listen = (port: number, pid: number | null, over: Partial<SocketStatus> = {}): SocketStatus => ({
  protocol: "tcp",
  localAddress: "0.0.0.0",
  localPort: port,
  remoteAddress: null,
  remotePort: null,
  state: "LISTEN",
  inode: port,
  pid,
  ...over,
});

const keys = (sockets: readonly SocketStatus[]): string[] => rows(sockets).listening.map(({ key }) => key);

describe("rows", () => {
  test("C88: an address that is mapped into IPv6 is reported once, as IPv4", () => {
    const mapped = { protocol: "tcp6", localAddress: "::ffff:192.0.2.7" } as const;
    expect(keys([listen(6379, 1, mapped), listen(6379, 1, { localAddress: "192.0.2.7" })])).toEqual([
      "tcp:192.0.2.7:6379",
    ]);
  });

  test("C88: the any-address of IPv6 keeps its family", () => {
    expect(keys([listen(80, 1, { protocol: "tcp6", localAddress: "::" })])).toEqual(["tcp6:[::]:80"]);
  });

  test("a port that several workers hold is one row, of the lowest pid", () => {
    const [row, ...rest] = rows([listen(80, null), listen(80, 12), listen(80, 11)]).listening;
    expect(row?.socket.pid).toBe(11);
    expect(rest).toEqual([]);
  });

  test("gives the same rows in any order of input", () => {
    const sockets = [listen(80, 3), listen(81, 2), listen(80, 1)];
    expect(rows(sockets)).toEqual(rows(sockets.toReversed()));
  });

  test("leaves out states that no process holds, and unnamed unix sockets", () => {
    const wait = listen(80, null, { state: "TIME-WAIT", remoteAddress: "192.0.2.1", remotePort: 1 });
    const unix = listen(0, 1, { protocol: "unix", localAddress: "" });
    expect(rows([wait, unix])).toEqual({ listening: [], peers: [] });
  });
});

describe("ownSockets", () => {
  const pod = fakeWorkload({ containers: [fakeContainer({ name: "a" }), fakeContainer({ name: "b", id: "b" })] });
  const container = fakeContainer({ name: "a" });
  // As the mode gives them for container `a`: those of `b` have no pid.
  const seen = { sockets: [listen(80, 10), listen(81, null)], attributed: true };

  test("C117: a container of a pod has the ports that its own processes hold", () => {
    expect(ownSockets(seen, pod, container).map(({ localPort }) => localPort)).toEqual([80]);
  });

  test("the pod has what no container's process holds, or all where holders cannot be read", () => {
    expect(ownSockets(seen, pod, null).map(({ localPort }) => localPort)).toEqual([81]);
    const blind = { sockets: [listen(80, null), listen(81, null)], attributed: false };
    expect(ownSockets(blind, pod, null)).toHaveLength(2);
    expect(ownSockets(blind, pod, container)).toEqual([]);
  });

  test("C88: of a hostNetwork pod only sockets of its own processes are reported", () => {
    const shared = { ...pod, sandbox: { id: "s", handle: {}, hostNetwork: true } };
    const node = { sockets: [...Array(40).keys()].map((port) => listen(port + 1, null)), attributed: false };
    expect(ownSockets(node, shared, null)).toEqual([]);
    expect(
      ownSockets({ ...node, sockets: [listen(80, 5), ...node.sockets], attributed: true }, shared, container),
    ).toEqual([listen(80, 5)]);
  });

  test("a container without a pod has its own sockets, the host all", () => {
    expect(ownSockets(seen, { ...pod, kind: "container" }, null)).toHaveLength(1);
    expect(ownSockets(seen, { ...pod, kind: "host" }, null)).toHaveLength(2);
  });
});
