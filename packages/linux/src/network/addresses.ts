import { SocketAddress } from "node:net";

/** Addresses that are reported at most: a node has one for each bridge and each of its own interfaces. */
const MOST = 64;
/** Scope of an address of `if_inet6` that is good beyond its link (`IPV6_ADDR_*` of the kernel's `net/ipv6.h`). */
const GLOBAL = "00";

/**
 * The machine's own IPv4 addresses, those of loopback left out, in the order of their numbers: from `fib_trie`
 * (proc_pid_net(5)), whose leaves say `/32 host LOCAL` of an address that is this machine's.
 */
export function parseFibTrie(text: string): readonly string[] {
  const found = new Set<string>();
  let leaf = "";
  for (const line of text.split("\n")) {
    const [sign = "", ...words] = line.trim().split(/\s+/);
    if (sign === "|--") leaf = words[0] ?? "";
    else if (sign === "/32" && words.join(" ") === "host LOCAL" && isOwn(leaf)) found.add(leaf);
    if (found.size >= MOST) break;
  }
  return [...found];
}

function isOwn(address: string): boolean {
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(address) && !address.startsWith("127.");
}

/**
 * The machine's own IPv6 addresses as RFC 5952 writes them, from `if_inet6` (proc_pid_net(5)): those of global scope.
 * Each interface has one of its link too, and so has each pod's: nobody reaches the machine by those from elsewhere.
 */
export function parseIfInet6(text: string): readonly string[] {
  const found = new Set<string>();
  for (const line of text.split("\n")) {
    const [hex = "", , , scope] = line.trim().split(/\s+/);
    if (scope !== GLOBAL || !/^[\da-f]{32}$/.test(hex)) continue;
    found.add(new SocketAddress({ address: hex.replaceAll(/(.{4})(?!$)/g, "$1:"), family: "ipv6" }).address);
    if (found.size >= MOST) break;
  }
  return [...found];
}
