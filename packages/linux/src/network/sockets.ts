import { SocketAddress } from "node:net";
import type { SocketStatus } from "@trawler/plugin-api";
import { parseCount } from "../proc/number.ts";

export type SocketRow = Omit<SocketStatus, "pid">;
export type SocketTable = SocketStatus["protocol"];

export const SOCKET_TABLES: readonly SocketTable[] = ["tcp", "tcp6", "udp", "udp6", "unix"];

/** `include/net/tcp_states.h`, by the names of ss(8), `ESTAB` written out. */
const STATES: readonly string[] = [
  "",
  "ESTABLISHED",
  "SYN-SENT",
  "SYN-RECV",
  "FIN-WAIT-1",
  "FIN-WAIT-2",
  "TIME-WAIT",
  "UNCONN",
  "CLOSE-WAIT",
  "LAST-ACK",
  "LISTEN",
  "CLOSING",
  "SYN-RECV",
];
/** Flag `__SO_ACCEPTCON` of a unix socket. */
const ACCEPTS = 0x10000;

/** Parses `/proc/PID/net/{tcp,tcp6,udp,udp6,unix}`. At most `max` rows; lines of another form are left out. */
export function parseSockets(text: string, table: SocketTable, max: number): readonly SocketRow[] {
  const parse = table === "unix" ? parseUnixRow : (fields: readonly string[]) => parseInternetRow(fields, table);
  const rows: SocketRow[] = [];
  for (const line of text.split("\n")) {
    if (rows.length >= max) break;
    const row = parse(line.trim().split(/\s+/));
    if (row !== null) rows.push(row);
  }
  return rows;
}

function parseInternetRow(fields: readonly string[], table: Exclude<SocketTable, "unix">): SocketRow | null {
  const local = parseAddress(fields[1]);
  const remote = parseAddress(fields[2]);
  const state = STATES[Number.parseInt(fields[3] ?? "", 16)];
  const inode = parseCount(fields[9]);
  if (local === null || remote === null || state === undefined || inode === null) return null;
  // An IPv4 address in a socket of both families is an IPv4 connection.
  const protocol = local.mapped ? (table === "tcp6" ? "tcp" : "udp") : table;
  const connected = remote.port !== 0;
  return {
    protocol,
    localAddress: local.address,
    localPort: local.port,
    remoteAddress: connected ? remote.address : null,
    remotePort: connected ? remote.port : null,
    state,
    inode,
  };
}

/** Unix sockets with a name; the unnamed ones are ends of pairs that say nothing. An abstract name begins with `@`. */
function parseUnixRow(fields: readonly string[]): SocketRow | null {
  const [, , , flags, , state, inodeText, ...path] = fields;
  const inode = parseCount(inodeText);
  if (flags === undefined || state === undefined || inode === null || path.length === 0) return null;
  const listens = (Number.parseInt(flags, 16) & ACCEPTS) !== 0;
  return {
    protocol: "unix",
    localAddress: path.join(" "),
    localPort: 0,
    remoteAddress: null,
    remotePort: null,
    state: listens ? "LISTEN" : state === "03" ? "ESTABLISHED" : "UNCONN",
    inode,
  };
}

interface Address {
  readonly address: string;
  readonly port: number;
  readonly mapped: boolean;
}

/** `0100007F:18EB`, or four such words for IPv6: each word in the byte order of the (little-endian) machine. */
function parseAddress(text: string | undefined): Address | null {
  if (text === undefined || !/^(?:[\dA-F]{8}|[\dA-F]{32}):[\dA-F]{4}$/.test(text)) return null;
  const port = Number.parseInt(text.slice(-4), 16);
  const bytes: number[] = [];
  for (let word = 0; word < text.length - 5; word += 8) {
    for (let byte = 6; byte >= 0; byte -= 2) bytes.push(Number.parseInt(text.slice(word + byte, word + byte + 2), 16));
  }
  if (bytes.length === 4) return { address: bytes.join("."), port, mapped: false };
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  if (isMapped) return { address: bytes.slice(12).join("."), port, mapped: true };
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const groups = hex.match(/.{4}/g) ?? [];
  return { address: new SocketAddress({ address: groups.join(":"), family: "ipv6" }).address, port, mapped: false };
}

/** One row per address pair and state: a socket of both families, or several that share a port, count once. */
export function uniqueSockets(sockets: readonly SocketStatus[]): readonly SocketStatus[] {
  const unique = new Map<string, SocketStatus>();
  for (const socket of sockets) {
    const { protocol, localAddress, localPort, remoteAddress, remotePort, state } = socket;
    const key = `${protocol} ${localAddress} ${localPort} ${remoteAddress} ${remotePort} ${state}`;
    if (unique.get(key)?.pid == null) unique.set(key, socket);
  }
  return [...unique.values()].sort(compareSockets);
}

function compareSockets(a: SocketStatus, b: SocketStatus): number {
  return (
    Number(b.state === "LISTEN") - Number(a.state === "LISTEN") ||
    SOCKET_TABLES.indexOf(a.protocol) - SOCKET_TABLES.indexOf(b.protocol) ||
    a.localPort - b.localPort ||
    compareText(a.localAddress, b.localAddress) ||
    compareText(a.remoteAddress ?? "", b.remoteAddress ?? "") ||
    (a.remotePort ?? 0) - (b.remotePort ?? 0) ||
    a.inode - b.inode
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
