import type { Access, CrawlContext, Feature, SocketStatus } from "@trawler/plugin-api";
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
import redis from "../src/index.ts";

/** Fakes, for faults that a real server does not show on demand; real servers are crawled by the end-to-end tests. */

export const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

export const INFO = "# Server\r\nredis_version:7.2.4\r\nredis_mode:standalone\r\nrole:master\r\n";

type Reply = string | ((asked: readonly string[]) => string);

/** Answers each command by its name with raw bytes; keeps what was asked. */
export function server(replies: Readonly<Record<string, Reply>>): {
  handler: Handler;
  readonly asked: string[];
} {
  const asked: string[] = [];
  const handler: Handler = (socket) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (let command = take(); command !== null; command = take()) {
        asked.push(command.join(" "));
        const reply = replies[(command[0] ?? "").toUpperCase()];
        if (reply !== undefined) socket.write(typeof reply === "string" ? reply : reply(asked));
      }
    });
    const take = (): string[] | null => {
      const head = /^\*(\d+)\r\n/.exec(text);
      if (head === null) return null;
      const parts: string[] = [];
      let rest = text.slice(head[0].length);
      for (let left = Number(head[1]); left > 0; left--) {
        const length = /^\$(\d+)\r\n/.exec(rest);
        const size = Number(length?.[1]);
        if (length === null || rest.length < length[0].length + size + 2) return null;
        parts.push(rest.slice(length[0].length, length[0].length + size));
        rest = rest.slice(length[0].length + size + 2);
      }
      text = rest;
      return parts;
    };
  };
  return { handler, asked };
}

export interface Scene {
  readonly handlers?: Readonly<Record<string, Handler>>;
  readonly connect?: Access["net"]["connect"];
  readonly sockets?: readonly SocketStatus[];
  readonly attributed?: boolean;
  readonly command?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly context?: Partial<CrawlContext>;
}

export interface Seen {
  readonly features: readonly Feature[];
  readonly problems: readonly string[];
  /** The value of the first feature. */
  readonly first: Readonly<Record<string, unknown>>;
}

/** One crawl of a container in which `redis-server` (pid 5) listens on 6379, unless the scene says otherwise. */
export async function crawl(scene: Scene): Promise<Seen> {
  const { sockets = [listens(6379)], attributed = true, command = "redis-server" } = scene;
  const crawler = await redis.create({ timeout: "2s", commands: false, ...scene.config }, fakeHost());
  const problems: string[] = [];
  const workload = fakeWorkload();
  const access = {
    proc: fakeProc({ commands: [{ pid: 5, command }], sockets: { sockets, total: sockets.length, attributed } }),
    net: fakeNet({}, scene.connect ?? fakeConnect(scene.handlers ?? {})),
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
  return { features, problems, first: typeof value === "object" && value !== null ? { ...value } : {} };
}
