import { endpointOf } from "@trawler/application";
import { type CrawlContext, defineCrawler, type NetworkAccess } from "@trawler/plugin-api";
import * as z from "zod";
import type { Found } from "./outcome.ts";
import { findPorts, SERVERS } from "./ports.ts";
import { search } from "./round.ts";

const PATH = /^\/[!-~]{0,255}$/;

/** An integer of any size. Its JSON Schema is `integer`, which the frame writes exactly. */
function exact(unit: string, description: string) {
  const schema = z.union([z.int().nonnegative(), z.bigint().nonnegative()]);
  schema._zod.toJSONSchema = () => ({ type: "integer", minimum: 0 });
  return schema.nullable().meta({ "x-unit": unit, description });
}

const text = (description: string) => z.string().nullable().describe(description);

const figures = z.strictObject({
  path: text("Path of the status page."),
  version: text("What the server calls itself, such as `nginx/1.26.0`."),
  "nginx.connections_accepted": exact("{connection}", "Connections accepted."),
  "nginx.connections_handled": exact("{connection}", "Connections handled."),
  "nginx.connections_dropped": exact("{connection}", "Connections accepted but not handled, at a limit."),
  "nginx.requests": exact("{request}", "Requests."),
  "nginx.connections_current.active": exact("{connection}", "Connections now, idle ones included."),
  "nginx.connections_current.reading": exact("{connection}", "Connections whose request is being read."),
  "nginx.connections_current.writing": exact("{connection}", "Connections whose response is being written."),
  "nginx.connections_current.waiting": exact("{connection}", "Idle connections."),
});

const outcome = z.strictObject({
  state: z
    .enum(["ok", "status_unavailable", "not_stub_status", "tls_required", "down", "unsupported"])
    .describe("Only `ok` comes with figures."),
  reason: text("Why the state is not `ok`."),
  "server.port": exact("1", "Port that was asked."),
});

export default defineCrawler({
  name: "nginx",
  description: "Reads connections and requests of nginx from its status page.",
  config: z.strictObject({
    port: z.int().min(1).max(65_535).optional().describe("Port to ask instead of those that nginx listens on."),
    paths: z
      .array(z.string().regex(PATH))
      .min(1)
      .max(8)
      .default(["/stub_status", "/nginx_status", "/basic_status", "/status"])
      .describe("Paths to try, in this order."),
    timeout: z
      .string()
      .regex(/^\d{1,6}(ms|s)$/)
      .default("1s")
      .describe("Time for one request, connecting included."),
  }),
  scope: "member",
  needs: ["proc", "net", "meta"],
  features: { nginx: outcome.extend(figures.partial().shape) },
  match: { image: ["nginx", "nginx-*", "openresty", "angie"], process: SERVERS },
  create: (config) => ({
    async *crawl({ proc, net, meta }, context) {
      const { signal, clock, state } = context;
      const wish = wishOf(context, config.port ?? null);
      if (wish === null) return;
      const [commands, { sockets, attributed }] = await Promise.all([
        proc.commands({ signal }),
        proc.sockets({ signal }),
      ]);
      const { workload, container } = meta;
      const ports = findPorts({ commands, sockets, attributed, workload, container, port: wish.port });
      if (ports.length === 0) {
        // What a pod asks for is answered, even where there is nothing to ask.
        if (context.asked !== "annotation" || !attributed) return;
        const reason = `no ${wish.port === null ? "nginx" : "process"} of this container listens there`;
        yield { type: "nginx", key: "nginx", value: { state: "down" as const, reason, "server.port": wish.port } };
        return;
      }
      const held = sockets.filter(({ state, pid }) => state === "LISTEN" && pid !== null);
      const connect: NetworkAccess["connect"] = (target, options) =>
        net.connect("port" in target ? endpointOf(target.port, held) : target, options);
      const paths = wish.path === null ? config.paths : [wish.path];
      const timeout = milliseconds(config.timeout);
      const result = await search({ connect }, { ports, paths, timeout, signal, monotonic: clock.monotonic(), state });
      if (result === null) return;
      const { port } = result;
      const value =
        result.state === "ok"
          ? { state: result.state, reason: null, "server.port": port, ...figuresOf(result) }
          : { state: result.state, reason: result.reason, "server.port": port };
      yield { type: "nginx", key: String(port), value };
    },
  }),
});

/** What the pod asks for; null where it asks for what cannot be. */
function wishOf({ annotation, problem }: CrawlContext, configured: number | null) {
  const port = annotation?.["port"] === undefined ? configured : Number(annotation["port"]);
  const path = annotation?.["path"] ?? null;
  if (port !== null && !(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    problem("failed", "the annotation's `port` is no port number");
    return null;
  }
  if (path !== null && !(typeof path === "string" && PATH.test(path))) {
    problem("failed", "the annotation's `path` is no path");
    return null;
  }
  return { port, path };
}

function figuresOf({ status, path, server }: Found): z.output<typeof figures> {
  return {
    path,
    version: server,
    "nginx.connections_accepted": status.accepted,
    "nginx.connections_handled": status.handled,
    "nginx.connections_dropped": status.dropped,
    "nginx.requests": status.requests,
    "nginx.connections_current.active": status.active,
    "nginx.connections_current.reading": status.reading,
    "nginx.connections_current.writing": status.writing,
    "nginx.connections_current.waiting": status.waiting,
  };
}

const milliseconds = (duration: string): number => Number.parseInt(duration, 10) * (duration.endsWith("ms") ? 1 : 1000);
