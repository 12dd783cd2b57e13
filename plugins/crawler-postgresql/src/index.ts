import { keyOf, locate, milliseconds, type Server, STATES, type State, tell } from "@trawler/application";
import { DURATION, defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { ask, type Reply, type Row } from "./ask.ts";
import { DATABASE_FIGURES, figuresOf, SERVER_FIGURES, textOf } from "./report.ts";

const SERVER: Server = { processes: ["postgres", "postmaster"], ports: [5432] };

const figures = (rows: typeof SERVER_FIGURES | typeof DATABASE_FIGURES) =>
  Object.fromEntries(
    rows.map(([field, , unit, description]) => [
      field,
      z.number().nonnegative().nullable().meta({ "x-unit": unit, description }),
    ]),
  );

const postgresql = z.strictObject({
  state: z.enum(STATES).describe("Only `ok` comes with figures."),
  reason: z.string().nullable().describe("Why the state is not `ok`."),
  "server.port": z.int().nullable().meta({ "x-unit": "1", description: "Port that was asked; null on a unix socket." }),
  version: z.string().nullable().describe("The server's version."),
  role: z.enum(["primary", "replica"]).nullable().describe("Whether it takes writes, or replays those of another."),
  ...figures(SERVER_FIGURES),
});

const postgresqlDatabase = z.strictObject({
  database: z.string().describe("Name of the database."),
  ...figures(DATABASE_FIGURES),
});

export default defineCrawler({
  name: "postgresql",
  description: "Reads connections, transactions and databases of PostgreSQL servers.",
  config: z.strictObject({
    port: z.int().min(1).max(65_535).optional().describe("Port to ask instead of those that the server listens on."),
    username: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe("User that may read pg_stat views: a member of pg_monitor."),
    password: z
      .string()
      .min(1)
      .optional()
      .describe("Password of that user; best given as ${file:…}.")
      .meta({ "x-secret": true, writeOnly: true }),
    database: z.string().min(1).max(63).default("postgres").describe("Database to connect to."),
    timeout: z.string().regex(DURATION).default("3s").describe("Time for one server, connecting included."),
  }),
  scope: "member",
  needs: ["proc", "net", "meta"],
  features: { postgresql, postgresqlDatabase },
  match: { image: ["postgres", "postgresql", "postgresql-*", "postgres-*", "timescaledb"], process: SERVER.processes },
  create: ({ port: configured = null, username, password, database, timeout }) => ({
    async *crawl({ proc, net, meta }, context) {
      const { endpoints, deaf } = await locate({ proc, meta }, context, SERVER, configured);
      if (deaf !== null) {
        context.problem("unavailable", deaf);
        yield { type: "postgresql", key: "postgresql", value: report("down", deaf, null) };
      }
      const limit = milliseconds(timeout);
      const { signal } = context;
      for (const endpoint of endpoints) {
        const key = keyOf(endpoint);
        const port = "port" in endpoint ? endpoint.port : null;
        const reply: Reply =
          username === undefined
            ? { state: "denied", reason: "no user is configured to ask as" }
            : await ask(net, { endpoint, user: username, password, database, timeout: limit, signal });
        if (reply.state !== "ok") {
          // That nobody gave us a user is no fault of the pod.
          if (username !== undefined) tell(reply, key, context);
          yield { type: "postgresql", key, value: report(reply.state, reply.reason, port) };
          continue;
        }
        yield { type: "postgresql", key, value: report("ok", null, port, reply.server) };
        for (const row of reply.databases) {
          const name = textOf(row["datname"]);
          if (name === null) continue;
          const value = { database: name, ...figuresOf(DATABASE_FIGURES, row) } as z.output<typeof postgresqlDatabase>;
          yield { type: "postgresqlDatabase", key: `${key}/${name}`, value };
        }
      }
    },
  }),
});

function report(state: State, reason: string | null, port: number | null, row: Row = {}) {
  const { version, recovery } = row;
  const role = typeof recovery === "boolean" ? (recovery ? "replica" : "primary") : null;
  const fixed = { state, reason, "server.port": port, version: textOf(version), role };
  return { ...fixed, ...figuresOf(SERVER_FIGURES, row) } as z.output<typeof postgresql>;
}
