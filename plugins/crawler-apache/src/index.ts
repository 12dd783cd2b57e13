import { failureOf, get, keyOf, locate, milliseconds, type Server, STATES, tell } from "@trawler/application";
import { DURATION, defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { parseStatus, type Status, WORKER_STATES, type WorkerState } from "./parse.ts";

const SERVER: Server = {
  processes: ["apache2", "httpd", "httpd-prefork", "httpd-worker"],
  ports: [80, 8080],
  // Asking TLS in plain text only fills the error log.
  foreign: (port) => port === 443 || port === 8443,
};

const figure = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });

const workers = Object.fromEntries(
  (Object.keys(WORKER_STATES) as WorkerState[]).map((state) => [
    `apache.workers.${state}`,
    figure("{worker}", `Workers whose letter on the scoreboard is \`${WORKER_STATES[state]}\`.`),
  ]),
);

const apache = z.strictObject({
  state: z.enum(STATES).describe("Only `ok` comes with figures."),
  reason: z.string().nullable().describe("Why the state is not `ok`."),
  "server.port": figure("1", "Port that was asked."),
  version: z.string().nullable().describe("What the server calls itself."),
  "apache.uptime": figure("s", "Time since the start."),
  "apache.requests": figure("{request}", "Requests; null where ExtendedStatus is off."),
  "apache.traffic": figure("By", "Bytes sent; null where ExtendedStatus is off."),
  "apache.request.rate": figure("{request}/s", "Mean since the start, as the server reckons it."),
  "apache.traffic.rate": figure("By/s", "Mean since the start, as the server reckons it."),
  "apache.request.size": figure("By", "Mean bytes of an answer."),
  "apache.load.1": figure("1", "Load of its host over a minute, as the server sees it."),
  "apache.workers.busy": figure("{worker}", "Workers that serve a request."),
  "apache.workers.idle": figure("{worker}", "Workers that wait for one."),
  "apache.current_connections": figure("{connection}", "Connections; null where the module does not say."),
  ...workers,
});

export default defineCrawler({
  name: "apache",
  description: "Reads requests and workers of Apache HTTP servers from mod_status.",
  config: z.strictObject({
    port: z.int().min(1).max(65_535).optional().describe("Port to ask instead of those that Apache listens on."),
    path: z
      .string()
      .regex(/^\/[!-~]{0,255}$/)
      .default("/server-status?auto")
      .describe("Path of the status page in its form for machines."),
    timeout: z.string().regex(DURATION).default("2s").describe("Time for one server, connecting included."),
  }),
  scope: "member",
  needs: ["proc", "net", "meta"],
  features: { apache },
  match: { image: ["httpd", "httpd-*", "apache", "apache-*"], process: SERVER.processes },
  create: ({ port = null, path, timeout }) => ({
    async *crawl({ proc, net, meta }, context) {
      const { endpoints, deaf } = await locate({ proc, meta }, context, SERVER, port);
      if (deaf !== null && context.asked === "annotation") {
        yield { type: "apache", key: "apache", value: report({ state: "down", reason: deaf }, null) };
      }
      for (const endpoint of endpoints) {
        if (!("port" in endpoint)) continue;
        const key = keyOf(endpoint);
        const answer = await get(net, { ...endpoint, path, timeout: milliseconds(timeout), signal: context.signal });
        const failure = failureOf(answer);
        const status = answer.status === 200 ? parseStatus(answer.body) : null;
        if (status !== null) {
          yield {
            type: "apache",
            key,
            value: { ...report({ state: "ok", reason: null }, endpoint.port), ...figuresOf(status) },
          };
          continue;
        }
        const outcome = failure ?? ({ state: "unexpected", reason: `${path} is no status page` } as const);
        tell(outcome, key, context);
        yield { type: "apache", key, value: report(outcome, endpoint.port) };
      }
    },
  }),
});

type Value = z.output<typeof apache>;

/** All figures null: not measured, never 0. */
const NONE = Object.fromEntries(Object.keys(apache.shape).map((name) => [name, null]));

function report(
  outcome: { readonly state: (typeof STATES)[number]; readonly reason: string | null },
  port: number | null,
) {
  return { ...NONE, ...outcome, "server.port": port } as Value;
}

function figuresOf(status: Status) {
  return {
    version: status.version,
    "apache.uptime": status.uptime,
    "apache.requests": status.accesses,
    "apache.traffic": status.bytes,
    "apache.request.rate": status.requestRate,
    "apache.traffic.rate": status.byteRate,
    "apache.request.size": status.bytesPerRequest,
    "apache.load.1": status.load,
    "apache.workers.busy": status.busy,
    "apache.workers.idle": status.idle,
    "apache.current_connections": status.connections,
    ...Object.fromEntries(
      Object.entries(status.workers ?? {}).map(([state, count]) => [`apache.workers.${state}`, count]),
    ),
  };
}
