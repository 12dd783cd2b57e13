import { BlockList, isIP } from "node:net";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that a request to `target` goes through, or null for a direct connection.
 *
 * HTTPS_PROXY or HTTP_PROXY by the target's scheme, NO_PROXY as Go reads it: `*`, host names (with and without leading
 * dot, both match what is below), addresses, CIDR ranges, each with an optional port. Lower case names count first.
 */
export function proxyFor(target: URL, environment: Environment): string | null {
  const name = target.protocol === "https:" ? "https_proxy" : "http_proxy";
  const proxy = environment[name] ?? environment[name.toUpperCase()];
  if (proxy === undefined || proxy === "") return null;
  const host = target.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  // Go never sends loopback through a proxy.
  if (host === "localhost" || host === "::1" || /^127\./.test(host)) return null;
  const exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? "";
  return exceptions.split(/[\s,]+/).some((entry) => excepts(entry.toLowerCase(), host, port)) ? null : proxy;
}

function excepts(entry: string, host: string, port: string): boolean {
  if (entry === "") return false;
  if (entry === "*") return true;
  if (entry.includes("/")) return inRange(entry, host);
  const [name, entryPort] = splitPort(entry);
  if (entryPort !== null && entryPort !== port) return false;
  if (isIP(name) !== 0 || isIP(host) !== 0) return name === host;
  const domain = name.replace(/^\*?\./, "");
  return host.endsWith(`.${domain}`) || (host === domain && !name.startsWith("."));
}

function splitPort(entry: string): readonly [string, string | null] {
  if (isIP(entry) !== 0) return [entry, null];
  const match = /^(.+?):(\d+)$/.exec(entry);
  const name = (match?.[1] ?? entry).replace(/^\[|\]$/g, "");
  return [name, match?.[2] ?? null];
}

function inRange(entry: string, host: string): boolean {
  const family = isIP(host);
  const [network = "", prefix = ""] = entry.split("/");
  if (family === 0 || isIP(network) !== family || !/^\d{1,3}$/.test(prefix)) return false;
  const bits = Number(prefix);
  if (bits > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  const type = family === 4 ? "ipv4" : "ipv6";
  list.addSubnet(network, bits, type);
  return list.check(host, type);
}
