import { type Endpoint, keyOf, locate, type Server } from "@trawler/application";
import { type CrawlContext, defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { ask } from "./ask.ts";
import { redis, redisCommand, redisDatabase } from "./feature.ts";
import { parseInfo } from "./parse.ts";
import type { FailureState, Reply } from "./reply.ts";
import { commands, databases, figuresOf, healthOf } from "./report.ts";

/** Servers that speak the protocol. A cluster node's bus listens 10,000 above its port and speaks another one. */
const SERVER: Server = {
  processes: ["redis-server", "redis-sentinel", "valkey-server", "valkey-sentinel", "keydb-server", "dragonfly"],
  ports: [6379],
  foreign: (port, held) => held.includes(port - 10_000),
};

const MAX_ROWS = 500;

/** States that are also a problem of the crawl, by its code. */
const PROBLEMS: ReadonlyMap<FailureState, "denied" | "unavailable"> = new Map([
  ["auth_required", "denied"],
  ["auth_failed", "denied"],
  ["denied", "denied"],
  ["cert_invalid", "denied"],
  ["not_tls", "unavailable"],
  ["down", "unavailable"],
]);

const pem = (description: string) => z.string().min(1).optional().describe(description);

export default defineCrawler({
  name: "redis",
  description: "Reads the state and the figures of Redis, Valkey, KeyDB and Dragonfly servers.",
  config: z.strictObject({
    port: z.int().min(1).max(65_535).optional().describe("Port to ask instead of those that the server listens on."),
    username: z.string().min(1).optional().describe("User for servers that ask for a password."),
    password: z
      .string()
      .min(1)
      .optional()
      .describe("Sent to each matched server that asks for one; best given as ${file:…}.")
      .meta({ "x-secret": true, writeOnly: true }),
    tls: z
      .strictObject({
        ca: pem("Certificates that may have signed the server's; absent: the system's."),
        serverName: z
          .string()
          .min(1)
          .optional()
          .describe(
            "Name that its certificate must carry; absent: a server is asked by its address, no name is checked.",
          ),
        certificate: pem("Our certificate, for servers that ask for one."),
        key: pem("Its key.").meta({ "x-secret": true, writeOnly: true }),
      })
      .optional()
      .describe("Speak TLS. Texts are PEM, best given as ${file:…}."),
    timeout: z
      .string()
      .regex(/^\d{1,6}(ms|s)$/)
      .default("2s")
      .describe("Time for one server, connecting included."),
    commands: z.boolean().default(false).describe("Also reports calls and latencies of each command."),
  }),
  scope: "member",
  needs: ["proc", "net", "meta"],
  features: { redis, redisDatabase, redisCommand },
  match: {
    image: ["redis", "redis-*", "valkey", "valkey-*", "keydb", "dragonfly"],
    process: SERVER.processes,
  },
  create: (config) => {
    const question = {
      credentials: { username: config.username, password: config.password },
      sections: config.commands ? ["everything"] : [],
      timeout: milliseconds(config.timeout),
      ...(config.tls && { tls: config.tls }),
    };
    return {
      async *crawl(access, context) {
        const { endpoints, deaf } = await locate(access, context, SERVER, config.port ?? null);
        if (deaf !== null) {
          context.problem("unavailable", deaf);
          yield { type: "redis", key: "redis", value: { state: "down" as const, reason: deaf, "server.port": null } };
        }
        const asked = endpoints.map(async (endpoint) => ({
          endpoint,
          reply: await ask(access.net, { ...question, endpoint, signal: context.signal }),
        }));
        for (const { endpoint, reply } of await Promise.all(asked)) yield* report(endpoint, reply, context);
      },
    };
  },
});

function* report(endpoint: Endpoint, reply: Reply, { problem }: Pick<CrawlContext, "problem">) {
  const key = keyOf(endpoint);
  const port = { "server.port": "port" in endpoint ? endpoint.port : null };
  if (reply.state !== "ok") {
    const code = PROBLEMS.get(reply.state);
    if (code !== undefined) problem(code, reply.reason.includes(key) ? reply.reason : `${key}: ${reply.reason}`);
    yield { type: "redis" as const, key, value: { ...reply, ...port } };
    return;
  }
  const info = parseInfo(reply.info);
  if (!info.has("redis_version")) {
    const value = { state: "not_redis", reason: "INFO names no version", ...port } as const;
    yield { type: "redis" as const, key, value };
    return;
  }
  yield { type: "redis" as const, key, value: { ...healthOf(info), ...port, ...figuresOf(info) } };
  for (const { name, value } of databases(info).slice(0, MAX_ROWS))
    yield { type: "redisDatabase" as const, key: `${key}/${name}`, value };
  for (const { name, value } of commands(info).slice(0, MAX_ROWS))
    yield { type: "redisCommand" as const, key: `${key}/${name}`, value };
}

const milliseconds = (text: string): number => Number.parseInt(text, 10) * (text.endsWith("ms") ? 1 : 1000);
