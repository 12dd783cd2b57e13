import { describe, expect, test } from "vitest";
import { readHostInterfaces, readInterfaces } from "../../src/network/interface-reader.ts";
import { parseInterfaces } from "../../src/network/interfaces.ts";
import { FakeProc, statText, systemError } from "../fake-proc.ts";

const HEADER =
  "Inter-|   Receive  |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes ...\n";
const LO =
  "    lo:       9       1    0    0    0     0          0         0        9       1    0    0    0     0       0          0\n";
const ETH0 =
  "  eth0:    4086      49    1    2    0     0          0         0      682       9    3    4    0     0       0          0\n";
const FIGURES = {
  name: "eth0",
  receivedBytes: 4086,
  receivedPackets: 49,
  receiveErrors: 1,
  receiveDropped: 2,
  transmittedBytes: 682,
  transmittedPackets: 9,
  transmitErrors: 3,
  transmitDropped: 4,
};
const belongs = (cgroup: string): boolean => cgroup === "mine";

function proc(entries: Readonly<Record<string, string | Error>>): FakeProc {
  return new FakeProc({ "1/ns/net": "net:[1]", "1/net/dev": ETH0, ...entries });
}

describe("interfaces", () => {
  test("every one but lo", () => {
    expect(parseInterfaces(HEADER + LO + ETH0)).toEqual([FIGURES]);
  });

  test("no blank behind the name, a name with a colon, counters beyond 2^32, garbage", () => {
    const text = `eth0:1:${"5000000000 ".repeat(16)}\nveth@if3: 1 2 3\nnonsense\n:\n`;
    expect(parseInterfaces(text)).toMatchObject([{ name: "eth0:1", receivedBytes: 5_000_000_000 }]);
  });

  test("C43: a namespace with lo alone has no interface, whatever the API says", () => {
    const files = proc({ "5/net/dev": HEADER + LO, "5/cgroup": "mine", "5/ns/net": "net:[5]" });
    expect(readInterfaces(files, { pids: [5], belongs, hostNetwork: false })).toEqual([]);
  });

  test("C54: any live process will do; one that has gone, or whose pid is another's now, will not", () => {
    const files = proc({ "6/net/dev": "eth9: 1", "6/cgroup": "other", "7/net/dev": ETH0, "7/cgroup": "mine" });
    expect(readInterfaces(files, { pids: [5, 6, 7], belongs, hostNetwork: false })).toEqual([FIGURES]);
    expect(() => readInterfaces(files, { pids: [5, 6], belongs, hostNetwork: false })).toThrow(
      expect.objectContaining({ code: "TRAWLER_GONE" }),
    );
  });

  test("C30: the node's network is no pod's, by what the environment says or by the namespace", () => {
    const unsupported = expect.objectContaining({ code: "TRAWLER_UNSUPPORTED" });
    const files = proc({ "5/net/dev": ETH0, "5/cgroup": "mine", "5/ns/net": "net:[1]" });
    expect(() => readInterfaces(files, { pids: [5], belongs, hostNetwork: true })).toThrow(unsupported);
    expect(() => readInterfaces(files, { pids: [5], belongs, hostNetwork: false })).toThrow(unsupported);
  });

  test("where the first process is guarded, kthreadd tells the node's namespace", () => {
    const files = proc({
      "1/ns/net": systemError("EACCES"),
      "2/stat": statText(2, { command: "kthreadd" }),
      "2/ns/net": "net:[1]",
      "5/net/dev": ETH0,
      "5/cgroup": "mine",
      "5/ns/net": "net:[1]",
    });
    expect(() => readInterfaces(files, { pids: [5], belongs, hostNetwork: false })).toThrow(
      expect.objectContaining({ code: "TRAWLER_UNSUPPORTED" }),
    );
  });

  test("without the right to see namespaces the environment's word has to do", () => {
    const denied = systemError("EACCES");
    const files = proc({ "1/ns/net": denied, "5/ns/net": denied, "5/net/dev": ETH0, "5/cgroup": "mine" });
    expect(readInterfaces(files, { pids: [5], belongs, hostNetwork: false })).toEqual([FIGURES]);
  });

  test("the node's own, without the host ends of containers' links", () => {
    const files = proc({
      "1/net/dev": HEADER + ETH0 + ETH0.replace("eth0", "veth12") + ETH0.replace("eth0", "docker0"),
    });
    expect(readHostInterfaces(files)).toEqual([FIGURES]);
  });
});
