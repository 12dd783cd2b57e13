import { BlockList, isIP } from "node:net";
import { TrawlerError } from "@trawler/plugin-api";

const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];

/** Never a pod's own address as seen from outside: it would be the node's, or anyone's. */
const NOT_FROM_OUTSIDE = new BlockList();
NOT_FROM_OUTSIDE.addSubnet("127.0.0.0", 8, "ipv4");
NOT_FROM_OUTSIDE.addSubnet("0.0.0.0", 8, "ipv4");
NOT_FROM_OUTSIDE.addSubnet("169.254.0.0", 16, "ipv4");
NOT_FROM_OUTSIDE.addSubnet("224.0.0.0", 3, "ipv4");
NOT_FROM_OUTSIDE.addAddress("::", "ipv6");
NOT_FROM_OUTSIDE.addAddress("::1", "ipv6");
NOT_FROM_OUTSIDE.addSubnet("fe80::", 10, "ipv6");
NOT_FROM_OUTSIDE.addSubnet("ff00::", 8, "ipv6");

const OWN_LOOPBACK = new BlockList();
OWN_LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
OWN_LOOPBACK.addAddress("::1", "ipv6");

/**
 * The addresses to try inside the namespace, in order: loopback, then the pod's own. `host` may choose among them only;
 * an address to listen on (`0.0.0.0`, `::`) means all.
 * @throws TRAWLER_REFUSED for any other host: nobody may send the crawler elsewhere.
 */
export function insideAddresses(host: string | undefined, own: readonly string[]): readonly string[] {
  const usable = own.filter(isPlain);
  if (host === undefined || host === "" || host === "0.0.0.0" || host === "::") return unique([...LOOPBACK, ...usable]);
  if (host === "localhost") return LOOPBACK;
  if (isPlain(host) && (contains(OWN_LOOPBACK, host) || contains(listOf(usable), host))) return [host];
  throw new TrawlerError("TRAWLER_REFUSED", "the host is none of the pod's own addresses");
}

/** Those of them that mean the same pod when the namespace cannot be entered. */
export function outsideAddresses(inside: readonly string[]): readonly string[] {
  return inside.filter((address) => !contains(NOT_FROM_OUTSIDE, address));
}

/** @throws TRAWLER_REFUSED where it is no port number. */
export function checkPort(port: number): void {
  if (Number.isInteger(port) && port > 0 && port < 65_536) return;
  throw new TrawlerError("TRAWLER_REFUSED", "a port is a number from 1 to 65535");
}

/** An IP address without a zone. */
function isPlain(address: string): boolean {
  return isIP(address) !== 0 && !address.includes("%");
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function listOf(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const address of addresses) list.addAddress(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  return list;
}

function unique(addresses: readonly string[]): readonly string[] {
  return [...new Set(addresses)];
}
