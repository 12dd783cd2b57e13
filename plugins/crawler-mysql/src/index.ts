import { keyOf, locate, milliseconds, type Server, STATES, type State, tell } from "@trawler/application";
import { DURATION, defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { ask, type Reply } from "./ask.ts";
import { FIGURES, figuresOf, productOf } from "./report.ts";

const SERVER: Server = {
  processes: ["mysqld", "mariadbd"],
  ports: [3306],
  // The X protocol and Galera's replication speak something else.
  foreign: (port) => port === 33_060 || port === 4567 || port === 4568 || port === 4444,
};

const mysql = z.strictObject({
  state: z.enum(STATES).describe("Only `ok` comes with figures."),
  reason: z.string().nullable().describe("Why the state is not `ok`."),
  "server.port": z.int().nullable().meta({ "x-unit": "1", description: "Port that was asked; null on a unix socket." }),
  product: z.enum(["mysql", "mariadb"]).nullable().describe("Which of the two it is."),
  version: z.string().nullable().describe("The server's version."),
  ...Object.fromEntries(
    FIGURES.map(([field, , unit, description]) => [
      field,
      z.number().nonnegative().nullable().meta({ "x-unit": unit, description }),
    ]),
  ),
});

export default defineCrawler({
  name: "mysql",
  description: "Reads connections, statements and buffers of MySQL and MariaDB servers.",
  config: z.strictObject({
    port: z.int().min(1).max(65_535).optional().describe("Port to ask instead of those that the server listens on."),
    username: z.string().min(1).max(80).optional().describe("User that may connect; it needs no further right."),
    password: z
      .string()
      .min(1)
      .optional()
      .describe("Password of that user; best given as ${file:…}. It is never sent in the clear.")
      .meta({ "x-secret": true, writeOnly: true }),
    timeout: z.string().regex(DURATION).default("3s").describe("Time for one server, connecting included."),
  }),
  scope: "member",
  needs: ["proc", "net", "meta"],
  features: { mysql },
  match: { image: ["mysql", "mysql-*", "mariadb", "mariadb-*", "percona*"], process: SERVER.processes },
  create: ({ port: configured = null, username, password, timeout }) => ({
    async *crawl({ proc, net, meta }, context) {
      const { endpoints, deaf } = await locate({ proc, meta }, context, SERVER, configured);
      if (deaf !== null) {
        context.problem("unavailable", deaf);
        yield { type: "mysql", key: "mysql", value: report("down", deaf, null) };
      }
      const limit = milliseconds(timeout);
      const { signal } = context;
      for (const endpoint of endpoints) {
        const key = keyOf(endpoint);
        const port = "port" in endpoint ? endpoint.port : null;
        const reply: Reply =
          username === undefined
            ? { state: "denied", reason: "no user is configured to ask as" }
            : await ask(net, { endpoint, user: username, password, timeout: limit, signal });
        if (reply.state === "ok") {
          yield { type: "mysql", key, value: report("ok", null, port, reply.version, reply.status) };
          continue;
        }
        // That nobody gave us a user is no fault of the pod.
        if (username !== undefined) tell(reply, key, context);
        yield { type: "mysql", key, value: report(reply.state, reply.reason, port) };
      }
    },
  }),
});

function report(
  state: State,
  reason: string | null,
  port: number | null,
  version: string | null = null,
  status: ReadonlyMap<string, string> = new Map(),
) {
  const fixed = {
    state,
    reason,
    "server.port": port,
    product: productOf(version),
    version: version?.slice(0, 128) ?? null,
  };
  return { ...fixed, ...figuresOf(status) } as z.output<typeof mysql>;
}
