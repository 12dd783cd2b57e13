import { failureOf, get, keyOf, locate, milliseconds, type Server, tell } from "@trawler/application";
import { DURATION, defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import {
  liberty,
  libertyServlet,
  libertySession,
  libertyThreadPool,
  poolsOf,
  serverOf,
  servletsOf,
  sessionsOf,
} from "./features.ts";
import { Figures } from "./figures.ts";

/** Where Linux begins to give out ports by itself: there the server waits for the order to stop. */
const EPHEMERAL = 32_768;
const serverFor = (tls: boolean): Server => ({
  processes: ["java"],
  argument: "ws-server.jar",
  ports: [tls ? 9443 : 9080],
  // 443, 8443, 9443: TLS by custom.
  foreign: (port) => port >= EPHEMERAL || (port % 1_000 === 443) !== tls,
});
/** The page of a server with many applications. */
const MAX_BODY = 1024 * 1024;
const MAX_ROWS = 100;

export default defineCrawler({
  name: "liberty",
  description: "Reads memory, threads, sessions and requests of Open Liberty and WebSphere Liberty.",
  config: z.strictObject({
    port: z.int().min(1).max(65_535).optional().describe("Port to ask instead of those that Liberty listens on."),
    path: z
      .string()
      .regex(/^\/[!-~]{0,255}$/)
      .default("/metrics")
      .describe("Path of the page of MicroProfile Metrics."),
    tls: z.boolean().default(false).describe("Speak TLS. The certificate of a pod's own server is not checked."),
    username: z.string().max(128).optional().describe("User, where the server asks for one."),
    password: z
      .string()
      .min(1)
      .optional()
      .describe("Sent to each Liberty that is found; best given as ${file:…}, and with `tls`.")
      .meta({ "x-secret": true, writeOnly: true }),
    timeout: z.string().regex(DURATION).default("2s").describe("Time for one server, connecting included."),
  }),
  scope: "member",
  needs: ["proc", "net", "meta"],
  features: { liberty, libertyThreadPool, libertyServlet, libertySession },
  match: { image: ["open-liberty", "websphere-liberty", "openliberty", "liberty"], process: ["java"] },
  create: ({ port: configured = null, path, tls, username, password, timeout }) => {
    const server = serverFor(tls);
    const secret = Buffer.from(`${username ?? ""}:${password ?? ""}`).toString("base64");
    const headers: Record<string, string> = username === undefined ? {} : { authorization: `Basic ${secret}` };
    return {
      async *crawl({ proc, net, meta }, context) {
        const { signal, problem } = context;
        const { endpoints } = await locate({ proc, meta }, context, server, configured);
        for (const endpoint of endpoints) {
          if (!("port" in endpoint)) continue;
          const key = keyOf(endpoint);
          const question = { ...endpoint, path, tls, headers, maxBody: MAX_BODY };
          const answer = await get(net, { ...question, timeout: milliseconds(timeout), signal });
          const figures = answer.status === 200 ? new Figures(answer.body) : null;
          if (figures?.one("jvm_uptime_seconds") == null) {
            const wrong = failureOf(answer) ?? ({ state: "unexpected", reason: `${path} has no figures` } as const);
            // That nobody gave us a user is no fault of the pod.
            if (username !== undefined || wrong.state !== "denied") tell(wrong, key, context);
            yield { type: "liberty", key, value: serverOf(wrong.state, wrong.reason, endpoint.port, null) };
            continue;
          }
          if (figures.truncated) problem("truncated", `${key}: its page has more series than are read`);
          yield { type: "liberty", key, value: serverOf("ok", null, endpoint.port, figures) };
          for (const value of poolsOf(figures).slice(0, MAX_ROWS)) {
            yield { type: "libertyThreadPool", key: `${key}/${value.pool}`, value };
          }
          for (const value of servletsOf(figures).slice(0, MAX_ROWS)) {
            yield { type: "libertyServlet", key: `${key}/${value.servlet}`, value };
          }
          for (const value of sessionsOf(figures).slice(0, MAX_ROWS)) {
            yield { type: "libertySession", key: `${key}/${value.application}`, value };
          }
        }
      },
    };
  },
});
