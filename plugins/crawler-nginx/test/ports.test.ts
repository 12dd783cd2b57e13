import { fakeContainer, fakeWorkload, listens } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import { findPorts, type Sighting } from "../src/ports.ts";

const ports = (over: Partial<Sighting>) =>
  findPorts({
    commands: [{ pid: 5, command: "nginx" }],
    sockets: [listens(80)],
    attributed: true,
    workload: fakeWorkload(),
    container: fakeContainer(),
    port: null,
    ...over,
  });

describe("findPorts", () => {
  test("C117: each port belongs to the container whose nginx holds it", () => {
    const sockets = [listens(80, 5), listens(8081, null)];
    expect(ports({ sockets })).toEqual([80]);
    expect(ports({ sockets: [listens(80, null), listens(8081, 5)] })).toEqual([8081]);
  });

  test("leaves out ports of other processes and TLS ports, unless asked for", () => {
    const sockets = [listens(9000, 9), listens(443), listens(80)];
    expect(ports({ sockets })).toEqual([80]);
    expect(ports({ sockets, port: 443 })).toEqual([443]);
    expect(ports({ sockets, port: 81 })).toEqual([]);
  });

  test("without attribution takes usual ports where nothing else can be meant", () => {
    const blind = { attributed: false, sockets: [listens(80, null), listens(9000, null)] };
    expect(ports(blind)).toEqual([80]);
    expect(ports({ ...blind, port: 9000 })).toEqual([9000]);
    expect(ports({ ...blind, commands: [] })).toEqual([]);
    const two = fakeWorkload({ containers: [fakeContainer(), fakeContainer({ name: "b", id: "b" })] });
    expect(ports({ ...blind, workload: two })).toEqual([]);
    expect(
      ports({ ...blind, workload: fakeWorkload({ sandbox: { id: "s", handle: {}, hostNetwork: true } }) }),
    ).toEqual([]);
  });
});
