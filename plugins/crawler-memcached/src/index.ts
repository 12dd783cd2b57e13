import { keyOf, locate, milliseconds, type Server, STATES, type State, tell } from "@trawler/application";
import { DURATION, defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { type Answer, ask } from "./ask.ts";
import { figure, parseError, parseStats } from "./parse.ts";

const SERVER: Server = { processes: ["memcached"], ports: [11_211] };

/** Field of the feature, name in the answer, unit, meaning. */
const FIGURES = [
  ["memcached.uptime", "uptime", "s", "Time since the start."],
  ["memcached.threads", "threads", "{thread}", "Worker threads."],
  ["memcached.connections.current", "curr_connections", "{connection}", "Open connections."],
  ["memcached.connections.max", "max_connections", "{connection}", "Most that are allowed at once."],
  ["memcached.connections.total", "total_connections", "{connection}", "Connections accepted."],
  ["memcached.connections.rejected", "rejected_connections", "{connection}", "Connections refused at the limit."],
  ["memcached.items.current", "curr_items", "{item}", "Items stored now."],
  ["memcached.items.total", "total_items", "{item}", "Items ever stored."],
  ["memcached.evictions", "evictions", "{item}", "Items evicted before they expired."],
  ["memcached.memory.used", "bytes", "By", "Bytes of the items."],
  ["memcached.memory.limit", "limit_maxbytes", "By", "Bytes that may be used for items."],
  ["memcached.network.received", "bytes_read", "By", "Bytes received."],
  ["memcached.network.sent", "bytes_written", "By", "Bytes sent."],
  ["memcached.commands.get", "cmd_get", "{command}", "Retrievals."],
  ["memcached.commands.set", "cmd_set", "{command}", "Storages."],
  ["memcached.commands.flush", "cmd_flush", "{command}", "Flushes."],
  ["memcached.commands.touch", "cmd_touch", "{command}", "Touches."],
  ["memcached.get.hits", "get_hits", "{command}", "Retrievals that found an item."],
  ["memcached.get.misses", "get_misses", "{command}", "Retrievals that found none."],
  ["memcached.delete.hits", "delete_hits", "{command}", "Deletions that found an item."],
  ["memcached.delete.misses", "delete_misses", "{command}", "Deletions that found none."],
  ["memcached.cpu.user", "rusage_user", "s", "CPU time in user mode."],
  ["memcached.cpu.system", "rusage_system", "s", "CPU time in the kernel."],
] as const;

const memcached = z.strictObject({
  state: z.enum(STATES).describe("Only `ok` comes with figures."),
  reason: z.string().nullable().describe("Why the state is not `ok`."),
  "server.port": z.int().nullable().meta({ "x-unit": "1", description: "Port that was asked; null on a unix socket." }),
  version: z.string().nullable().describe("The server's version."),
  ...Object.fromEntries(
    FIGURES.map(([field, , unit, description]) => [
      field,
      z.number().nonnegative().nullable().meta({ "x-unit": unit, description }),
    ]),
  ),
});

export default defineCrawler({
  name: "memcached",
  description: "Reads items, commands and memory of memcached servers.",
  config: z.strictObject({
    port: z.int().min(1).max(65_535).optional().describe("Port to ask instead of those that the server listens on."),
    timeout: z.string().regex(DURATION).default("2s").describe("Time for one server, connecting included."),
  }),
  scope: "member",
  needs: ["proc", "net", "meta"],
  features: { memcached },
  match: { image: ["memcached", "memcached-*"], process: SERVER.processes },
  create: ({ port: configured = null, timeout }) => ({
    async *crawl({ proc, net, meta }, context) {
      const { endpoints, deaf } = await locate({ proc, meta }, context, SERVER, configured);
      if (deaf !== null) {
        context.problem("unavailable", deaf);
        yield { type: "memcached", key: "memcached", value: report("down", deaf, null) };
      }
      for (const endpoint of endpoints) {
        const key = keyOf(endpoint);
        const port = "port" in endpoint ? endpoint.port : null;
        const answer = await ask(net, endpoint, milliseconds(timeout), context.signal);
        const stats = "text" in answer ? parseStats(answer.text) : null;
        if (stats !== null) {
          yield { type: "memcached", key, value: report("ok", null, port, stats) };
          continue;
        }
        const failure = failureOf(answer);
        tell(failure, key, context);
        yield { type: "memcached", key, value: report(failure.state, failure.reason, port) };
      }
    },
  }),
});

function failureOf(answer: Answer) {
  if ("reason" in answer) {
    return { state: answer.heard ? "unexpected" : "down", reason: answer.reason.slice(0, 200) } as const;
  }
  const error = parseError(answer.text);
  // With SASL on, text commands are refused.
  if (error !== null) return { state: /auth/i.test(error) ? "denied" : "unexpected", reason: error } as const;
  return { state: "unexpected", reason: "the answer to `stats` is none of memcached's" } as const;
}

function report(
  state: State,
  reason: string | null,
  port: number | null,
  stats: ReadonlyMap<string, string> = new Map(),
) {
  const version = stats.get("version")?.slice(0, 64) ?? null;
  const figures = Object.fromEntries(FIGURES.map(([field, name]) => [field, figure(stats, name)]));
  return { state, reason, "server.port": port, version, ...figures } as z.output<typeof memcached>;
}
