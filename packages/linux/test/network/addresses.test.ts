import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { parseFibTrie, parseIfInet6 } from "../../src/network/addresses.ts";

/** Of a node with a bridge for its pods, as Linux 6.18 wrote it; both tables say the same of what is local. */
const FIB_TRIE = `Main:
  +-- 0.0.0.0/0 3 0 5
     +-- 0.0.0.0/4 2 0 2
        |-- 0.0.0.0
           /0 universe UNICAST
        +-- 10.88.0.0/24 2 0 2
           +-- 10.88.0.0/31 1 0 0
              |-- 10.88.0.0
                 /24 link UNICAST
              |-- 10.88.0.1
                 /32 host LOCAL
           |-- 10.88.0.255
              /32 link BROADCAST
     +-- 127.0.0.0/8 2 0 2
        +-- 127.0.0.0/31 1 0 0
           |-- 127.0.0.0
              /8 host LOCAL
           |-- 127.0.0.1
              /32 host LOCAL
        |-- 127.255.255.255
           /32 link BROADCAST
     +-- 192.0.2.0/24 2 0 2
        +-- 192.0.2.0/30 2 0 2
           |-- 192.0.2.0
              /24 link UNICAST
           |-- 192.0.2.2
              /32 host LOCAL
        |-- 192.0.2.255
           /32 link BROADCAST
Local:
  +-- 0.0.0.0/0 3 0 5
     +-- 10.88.0.0/24 2 0 2
        +-- 10.88.0.0/31 1 0 0
           |-- 10.88.0.1
              /32 host LOCAL
`;

test("addresses of this machine, without those of its networks, of broadcasts and of loopback", () => {
  expect(parseFibTrie(FIB_TRIE)).toEqual(["10.88.0.1", "192.0.2.2"]);
});

test("IPv6 addresses of global scope, as people write them", () => {
  const text = `fd000000000000000000000000000002 04 40 00 82     eth0
fe8000000000000000fc00fffe000001 04 40 20 80     eth0
20010db8000000000000000000000001 04 40 00 80     eth0
00000000000000000000000000000001 01 80 10 80       lo
`;
  expect(parseIfInet6(text)).toEqual(["fd00::2", "2001:db8::1"]);
});

test("noise gives none, and there is an end to what is given", () => {
  for (const noise of ["", "\0", "|--", "/32 host LOCAL", "|-- 1.2.3\n/32 host LOCAL", "zz 04 40 00 82 x"]) {
    expect([...parseFibTrie(noise), ...parseIfInet6(noise)]).toEqual([]);
  }
  const many = Array.from({ length: 1000 }, (_, index) => index);
  expect(parseFibTrie(many.map((n) => `|-- 10.0.${n >> 8}.${n & 255}\n/32 host LOCAL\n`).join(""))).toHaveLength(64);
  const hex = (n: number) => `20010db8${n.toString(16).padStart(24, "0")} 04 40 00 80 eth0\n`;
  expect(parseIfInet6(many.map(hex).join(""))).toHaveLength(64);
});

test("they are those that Node lists, in our own namespace (skipped where /proc has no such file)", ({ skip }) => {
  const read = (name: string): string => {
    try {
      return readFileSync(`/proc/self/net/${name}`, "utf8");
    } catch {
      return skip(`there is no /proc/self/net/${name}`);
    }
  };
  const listed = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses
      .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"))
      .map(({ address }) => address),
  );
  const found = [...parseFibTrie(read("fib_trie")), ...parseIfInet6(read("if_inet6"))];
  expect(found).toEqual(expect.arrayContaining(listed));
});
