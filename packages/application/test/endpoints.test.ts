import { findEndpoints, type Server, type Sighting } from "@trawler/application";
import { fakeContainer, fakeWorkload, listens } from "@trawler/testkit";
import { describe, expect, test } from "vitest";

const server: Server = {
  processes: ["redis-server"],
  ports: [6379],
  foreign: (port, held) => held.includes(port - 10_000),
};

const sighting = (over: Partial<Sighting>): Sighting => ({
  commands: [{ pid: 5, command: "redis-server" }],
  sockets: [listens(7000)],
  attributed: true,
  workload: fakeWorkload(),
  container: fakeContainer(),
  port: null,
  expected: false,
  server,
  ...over,
});

const endpoints = (over: Partial<Sighting>) => findEndpoints(sighting(over)).endpoints;

describe("findEndpoints", () => {
  test("C108: takes the ports that the server's process holds, wherever they are", () => {
    expect(endpoints({ sockets: [listens(7000), listens(6379, 9)] })).toEqual([{ port: 7000 }]);
    expect(endpoints({ commands: [{ pid: 5, command: "memcached" }], sockets: [listens(11_211)] })).toEqual([]);
  });

  test("C117: leaves a port to the container that holds it", () => {
    expect(endpoints({ sockets: [listens(6379, null), listens(6380)] })).toEqual([{ port: 6380 }]);
    expect(endpoints({ sockets: [listens(6379, null)], port: 6379 })).toEqual([]);
  });

  test("C117: asks at the one address that the server listens on, as another container may hold the same port elsewhere", () => {
    const at = (localAddress: string) => listens(6379, 5, { localAddress });
    expect(endpoints({ sockets: [at("192.0.2.7"), listens(6379, null, { localAddress: "127.0.0.1" })] })).toEqual([
      { port: 6379, host: "192.0.2.7" },
    ]);
    expect(endpoints({ sockets: [at("192.0.2.7"), at("127.0.0.1")] })).toEqual([{ port: 6379, host: "127.0.0.1" }]);
    expect(endpoints({ sockets: [at("192.0.2.7"), at("0.0.0.0")] })).toEqual([{ port: 6379 }]);
    expect(endpoints({ sockets: [at("192.0.2.7")], port: 6379 })).toEqual([{ port: 6379, host: "192.0.2.7" }]);
  });

  test("C30: a server that the pod's annotation promises and nobody here holds is missed by name", () => {
    const sockets = [listens(7000, null)];
    const deaf = (over: Partial<Sighting>) => findEndpoints(sighting({ sockets, commands: [], ...over })).deaf;
    expect(deaf({ port: 7000, expected: true })).toBe("no process of this container listens on port 7000");
    expect(deaf({ expected: true })).toBe("no process of this container listens");
    expect(deaf({ port: 7000 })).toBeNull();
    expect(deaf({ expected: true, attributed: false })).toBeNull();
  });

  test("leaves out the cluster bus and each port's second family", () => {
    const sockets = [listens(6379), listens(6379, 5, { protocol: "tcp6", localAddress: "::" }), listens(16_379)];
    expect(endpoints({ sockets })).toEqual([{ port: 6379 }]);
  });

  test("asks through the socket file where the server listens on no port", () => {
    const unix = listens(0, 5, { protocol: "unix", localAddress: "/run/redis.sock" });
    expect(endpoints({ sockets: [unix] })).toEqual([{ unix: "/run/redis.sock" }]);
    expect(endpoints({ sockets: [unix, listens(7000)] })).toEqual([{ port: 7000 }]);
  });

  test("finds a server under another name on the usual port only", () => {
    const commands = [{ pid: 5, command: "cache" }];
    expect(endpoints({ commands, sockets: [listens(6379), listens(80)] })).toEqual([{ port: 6379 }]);
    expect(endpoints({ commands, sockets: [listens(80)] })).toEqual([]);
  });

  test("without attribution takes the default port where it is listened on and nothing else can be meant", () => {
    const blind = { attributed: false, sockets: [listens(6379, null), listens(80, null)] };
    expect(endpoints(blind)).toEqual([{ port: 6379 }]);
    expect(endpoints({ ...blind, port: 80 })).toEqual([{ port: 80 }]);
    expect(endpoints({ ...blind, sockets: [listens(80, null)] })).toEqual([]);
    const two = fakeWorkload({ containers: [fakeContainer(), fakeContainer({ name: "b", id: "b" })] });
    expect(endpoints({ ...blind, workload: two, commands: [] })).toEqual([]);
    const shared = fakeWorkload({ sandbox: { id: "s", handle: {}, hostNetwork: true } });
    expect(endpoints({ ...blind, workload: shared })).toEqual([]);
  });

  test("a server that listens nowhere is deaf only where that is known", () => {
    expect(findEndpoints(sighting({ sockets: [] }))).toEqual({
      endpoints: [],
      deaf: "its process runs but does not listen",
    });
    expect(findEndpoints(sighting({ sockets: [], attributed: false }))).toEqual({ endpoints: [], deaf: null });
    expect(findEndpoints(sighting({ sockets: [], commands: [] }))).toEqual({ endpoints: [], deaf: null });
  });

  test("asks a bounded number of servers", () => {
    const sockets = Array.from({ length: 100 }, (_, index) => listens(7000 + index));
    expect(endpoints({ sockets })).toHaveLength(8);
  });
});
