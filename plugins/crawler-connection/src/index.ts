import { defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { ownSockets, type Row, rows } from "./rows.ts";

const MAX_ROWS = 500;
/** Sockets looked at; what is beyond is counted. */
const MAX_SOCKETS = 20_000;

const number = (description: string) => z.int().nonnegative().nullable().meta({ "x-unit": "1", description });
const text = (description: string) => z.string().nullable().describe(description);

export default defineCrawler({
  name: "connection",
  description: "Reads listening sockets and connections, each at the container whose process holds it.",
  config: z.strictObject({
    max: z.int().min(1).max(MAX_ROWS).default(MAX_ROWS).describe("Most listening sockets, and most connections."),
  }),
  scope: "both",
  needs: ["proc", "meta"],
  features: {
    connection: z.strictObject({
      "network.transport": z.string().describe("`tcp`, `udp` or `unix`."),
      "network.type": text("`ipv4` or `ipv6`; null for unix."),
      "network.local.address": z.string().describe("Address or path; `::` takes IPv4 connections too."),
      "network.local.port": number("Port; null for unix."),
      "network.peer.address": text("Other side; null where it listens."),
      "network.peer.port": number("Port of the other side."),
      "network.connection.state": z.string().describe("`listen`, `established` and so on."),
      pid: number("Process that holds it, in the node's namespace; null where that cannot be read."),
    }),
  },
  create: ({ max }) => ({
    async *crawl({ proc, meta }, { signal, problem }) {
      const { sockets, total, attributed } = await proc.sockets({ signal, max: MAX_SOCKETS });
      const { listening, peers } = rows(ownSockets({ sockets, attributed }, meta.workload, meta.container));
      for (const row of listening.slice(0, max)) yield { type: "connection", key: row.key, value: describeRow(row) };
      for (const row of peers.slice(0, max)) yield { type: "connection", key: row.key, value: describeRow(row) };
      if (listening.length > max) problem("truncated", `${max} of ${listening.length} listening sockets`);
      if (peers.length > max) problem("truncated", `${max} of ${peers.length} connections`);
      if (total > sockets.length) problem("truncated", `looked at ${sockets.length} of ${total} sockets`);
    },
  }),
});

function describeRow({ socket, listening }: Row) {
  const { protocol, localAddress, localPort, remoteAddress, remotePort, state, pid } = socket;
  const unix = protocol === "unix";
  return {
    "network.transport": protocol.replace("6", ""),
    "network.type": unix ? null : protocol.endsWith("6") ? "ipv6" : "ipv4",
    "network.local.address": localAddress,
    "network.local.port": unix ? null : localPort,
    "network.peer.address": listening ? null : remoteAddress,
    "network.peer.port": listening ? null : remotePort,
    "network.connection.state": listening ? "listen" : state.toLowerCase().replaceAll("-", "_"),
    pid,
  };
}
