import {
  failureOf,
  get,
  keyOf,
  locate,
  milliseconds,
  type Server,
  STATES,
  type State,
  tell,
} from "@trawler/application";
import { DURATION, defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { type Attributes, type Connector, figure, parseStatus } from "./parse.ts";

const SERVER: Server = {
  processes: ["java"],
  argument: "org.apache.catalina.startup.Bootstrap",
  ports: [8080],
  // AJP, the port that takes the order to stop, and TLS by custom.
  foreign: (port) => [8005, 8009, 8443].includes(port),
};
/** The page of a server with many connectors and workers. */
const MAX_BODY = 1024 * 1024;

const number = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });

const tomcat = z.strictObject({
  state: z.enum(STATES).describe("Only `ok` comes with figures."),
  reason: z.string().nullable().describe("Why the state is not `ok`."),
  "server.port": number("1", "Port that was asked."),
  "jvm.memory.free": number("By", "Bytes of the heap that are not used."),
  "jvm.memory.total": number("By", "Bytes of the heap that the JVM has taken."),
  "jvm.memory.max": number("By", "Most bytes that the heap may have."),
});
const tomcatMemoryPool = z.strictObject({
  "jvm.memory.pool.name": z.string().describe("Name of the pool."),
  "jvm.memory.type": z.string().describe("`Heap memory` or `Non-heap memory`."),
  "jvm.memory.init": number("By", "Bytes asked for at the start."),
  "jvm.memory.committed": number("By", "Bytes that are there to be used."),
  "jvm.memory.limit": number("By", "Most bytes; null where there is no limit."),
  "jvm.memory.used": number("By", "Bytes in use."),
});
const tomcatConnector = z.strictObject({
  connector: z.string().describe("Name of the connector, such as `http-nio-8080`."),
  "tomcat.threads.max": number("{thread}", "Most threads."),
  "tomcat.threads.current": number("{thread}", "Threads."),
  "tomcat.threads.busy": number("{thread}", "Of these, those that serve a request."),
  "tomcat.request.count": number("{request}", "Requests."),
  "tomcat.error.count": number("{error}", "Requests that ended with an error."),
  "tomcat.request.duration.max": number("s", "Longest request."),
  "tomcat.request.duration.sum": number("s", "Time spent on all requests."),
  "tomcat.network.received": number("By", "Bytes received."),
  "tomcat.network.sent": number("By", "Bytes sent."),
});
const tomcatWorker = z.strictObject({
  connector: z.string().describe("Name of the connector."),
  stage: z.string().nullable().describe("One letter, such as `S` (serving) or `R` (ready)."),
  "tomcat.request.duration": number("s", "Time spent on the request."),
  "tomcat.network.sent": number("By", "Bytes sent for it."),
  "tomcat.network.received": number("By", "Bytes received for it."),
  "client.address": z.string().nullable().describe("Who asks."),
  virtualHost: z.string().nullable().describe("Host that is asked."),
  request: z.string().nullable().describe("Path that is asked, without what follows `?`."),
});

export default defineCrawler({
  name: "tomcat",
  description: "Reads memory, threads and requests of Apache Tomcat from its manager.",
  config: z.strictObject({
    port: z.int().min(1).max(65_535).optional().describe("Port to ask instead of those that Tomcat listens on."),
    path: z
      .string()
      .regex(/^\/[!-~]{0,255}$/)
      .default("/manager/status?XML=true")
      .describe("Path of the status page in its XML form."),
    username: z.string().max(128).optional().describe("User with the role manager-status."),
    password: z
      .string()
      .min(1)
      .optional()
      .describe("Sent in the clear to each Tomcat that is found; best given as ${file:…}.")
      .meta({ "x-secret": true, writeOnly: true }),
    workers: z.boolean().default(false).describe("Also reports each worker, with who asks for what."),
    timeout: z.string().regex(DURATION).default("2s").describe("Time for one server, connecting included."),
  }),
  scope: "member",
  needs: ["proc", "net", "meta"],
  features: { tomcat, tomcatMemoryPool, tomcatConnector, tomcatWorker },
  match: { image: ["tomcat", "tomcat-*", "tomee"], process: SERVER.processes },
  create: ({ port: configured = null, path, username, password, workers, timeout }) => {
    const secret = Buffer.from(`${username ?? ""}:${password ?? ""}`).toString("base64");
    const headers: Record<string, string> = username === undefined ? {} : { authorization: `Basic ${secret}` };
    return {
      async *crawl({ proc, net, meta }, context) {
        const { signal } = context;
        const { endpoints } = await locate({ proc, meta }, context, SERVER, configured);
        for (const endpoint of endpoints) {
          if (!("port" in endpoint)) continue;
          const key = keyOf(endpoint);
          const question = { ...endpoint, path, headers, accept: "application/xml", maxBody: MAX_BODY };
          const answer = await get(net, { ...question, timeout: milliseconds(timeout), signal });
          const status = answer.status === 200 ? parseStatus(answer.body) : null;
          if (status === null) {
            const wrong = failureOf(answer) ?? ({ state: "unexpected", reason: `${path} is no status page` } as const);
            // That nobody gave us a user is no fault of the pod.
            if (username !== undefined || wrong.state !== "denied") tell(wrong, key, context);
            yield { type: "tomcat", key, value: report(wrong.state, wrong.reason, endpoint.port) };
            continue;
          }
          yield { type: "tomcat", key, value: report("ok", null, endpoint.port, status.memory) };
          for (const pool of status.pools) {
            const value = poolOf(pool);
            yield { type: "tomcatMemoryPool", key: `${key}/${value["jvm.memory.pool.name"]}`, value };
          }
          for (const connector of status.connectors) {
            yield { type: "tomcatConnector", key: `${key}/${connector.name}`, value: connectorOf(connector) };
            if (!workers) continue;
            for (const [index, worker] of connector.workers.entries()) {
              const value = workerOf(connector.name, worker);
              yield { type: "tomcatWorker", key: `${key}/${connector.name}/${index}`, value };
            }
          }
        }
      },
    };
  },
});

function report(state: State, reason: string | null, port: number, memory: Attributes = {}) {
  return {
    state,
    reason,
    "server.port": port,
    "jvm.memory.free": figure(memory, "free"),
    "jvm.memory.total": figure(memory, "total"),
    "jvm.memory.max": figure(memory, "max"),
  };
}

/** Older versions write initial, committed, max and used without `usage` before them. */
function poolOf(pool: Attributes) {
  const of = (name: string): number | null => figure(pool, `usage${name}`) ?? figure(pool, name.toLowerCase());
  return {
    "jvm.memory.pool.name": pool["name"] ?? "",
    "jvm.memory.type": pool["type"] ?? "",
    "jvm.memory.init": of("Init"),
    "jvm.memory.committed": of("Committed"),
    "jvm.memory.limit": of("Max"),
    "jvm.memory.used": of("Used"),
  };
}

function connectorOf({ name, threads, requests }: Connector) {
  return {
    connector: name,
    "tomcat.threads.max": figure(threads, "maxThreads"),
    "tomcat.threads.current": figure(threads, "currentThreadCount"),
    "tomcat.threads.busy": figure(threads, "currentThreadsBusy"),
    "tomcat.request.count": figure(requests, "requestCount"),
    "tomcat.error.count": figure(requests, "errorCount"),
    "tomcat.request.duration.max": seconds(requests, "maxTime"),
    "tomcat.request.duration.sum": seconds(requests, "processingTime"),
    "tomcat.network.received": figure(requests, "bytesReceived"),
    "tomcat.network.sent": figure(requests, "bytesSent"),
  };
}

function workerOf(connector: string, worker: Attributes) {
  const text = (name: string): string | null => (worker[name] === "?" ? null : (worker[name] ?? null));
  return {
    connector,
    stage: text("stage"),
    "tomcat.request.duration": seconds(worker, "requestProcessingTime"),
    "tomcat.network.sent": figure(worker, "requestBytesSent"),
    "tomcat.network.received": figure(worker, "requestBytesReceived"),
    "client.address": text("remoteAddr"),
    virtualHost: text("virtualHost"),
    request: text("currentUri"),
  };
}

/** The page counts milliseconds. */
function seconds(from: Attributes, name: string): number | null {
  const milliseconds = figure(from, name);
  return milliseconds === null ? null : milliseconds / 1_000;
}
