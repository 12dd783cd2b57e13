import type { CrawlContext, Feature, SocketStatus } from "@trawler/plugin-api";
import {
  fakeConnect,
  fakeCrawlContext,
  fakeHost,
  fakeNet,
  fakeProc,
  fakeWorkload,
  type Handler,
  listens,
} from "@trawler/testkit";
import nginx from "../src/index.ts";

/** Fakes, for faults that a real server does not show on demand; real servers are crawled by the end-to-end tests. */

export const PAGE =
  "Active connections: 5 \nserver accepts handled requests\n 231 230 998 \nReading: 0 Writing: 1 Waiting: 4 \n";

export function page(body: string | Buffer, head: readonly string[] = [], status = "200 OK"): Buffer {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const lines = [`HTTP/1.1 ${status}`, "Server: nginx/1.26.0", length, ...head, "", ""];
  return Buffer.concat([Buffer.from(lines.join("\r\n")), Buffer.from(body)]);
}

/** Answers each path with raw bytes, all others with 404; keeps the request lines and heads. */
export function server(pages: Readonly<Record<string, Buffer>>): {
  handler: Handler;
  readonly asked: string[];
  readonly heads: string[];
} {
  const asked: string[] = [];
  const heads: string[] = [];
  const handler: Handler = (socket) => {
    socket.on("data", (chunk) => {
      const head = chunk.toString("latin1");
      const path = head.split(" ")[1] ?? "";
      heads.push(head);
      asked.push(path);
      socket.end(pages[path] ?? page("<html>404 Not Found</html>", [], "404 Not Found"));
    });
  };
  return { handler, asked, heads };
}

export interface Scene {
  readonly handlers: Readonly<Record<string, Handler>>;
  readonly sockets?: readonly SocketStatus[];
  readonly config?: Readonly<Record<string, unknown>>;
  readonly context?: Partial<CrawlContext>;
}

export const PATHS = ["/stub_status", "/nginx_status", "/basic_status", "/status"];

/** One crawl of a container in which `nginx` (pid 5) listens on 80, unless the scene says otherwise. */
export async function crawl(scene: Scene) {
  const sockets = scene.sockets ?? [listens(80)];
  const crawler = await nginx.create({ paths: PATHS, timeout: "2s", ...scene.config }, fakeHost());
  const problems: string[] = [];
  const workload = fakeWorkload();
  const access = {
    proc: fakeProc({
      commands: [{ pid: 5, command: "nginx" }],
      sockets: { sockets, total: sockets.length, attributed: true },
    }),
    net: fakeNet({}, fakeConnect(scene.handlers)),
    meta: { workload, container: workload.containers[0] ?? null },
  };
  const context = fakeCrawlContext({
    asked: "match",
    problem: (code, message) => problems.push(`${code}: ${message}`),
    ...scene.context,
  });
  const features: Feature[] = [];
  for await (const feature of crawler.crawl(access, context)) features.push(feature);
  const value: unknown = features[0]?.value;
  const first: Readonly<Record<string, unknown>> = typeof value === "object" && value !== null ? { ...value } : {};
  return { features, problems, first };
}
