import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { buffer } from "node:stream/consumers";
import { node } from "./node.ts";

export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** What it is about: the name in the path, or that of the object in the body. */
  readonly name: string;
  /** A POST that would keep an object. */
  readonly creates: boolean;
}

export type Fault =
  /** The server never gets the request; its sender gets no answer. */
  | "lose"
  /** The server does what is asked; its answer is lost. */
  | "drop"
  /** The server never gets the request; this is the answer. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** The server has done it; its answer waits for this. */
  | { readonly after: () => Promise<void> };

export type Rule = (request: ProxiedRequest) => Fault | undefined | Promise<Fault | undefined>;

/** Stands between a client and the testbed's API server, and does what a bad network does, on order. */
export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ProxiedRequest[];
  /** Asked for each request before it goes on; it may do something first. */
  rule: Rule | null;
}

export interface HeldAnswers {
  readonly rule: Rule;
  /** The server has done the first of them. */
  readonly reached: Promise<void>;
  /** Later answers come as they are; what is held is never given. */
  pass(): void;
}

/** Has the server do what matches, and holds its answers back: whoever asked never learns what became of it. */
export function holdAnswers(matches: (request: Parameters<Rule>[0]) => boolean): HeldAnswers {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  let hold = true;
  const after = (): Promise<void> => {
    resolve();
    return new Promise(() => {});
  };
  return {
    rule: (request) => (hold && matches(request) ? { after } : undefined),
    reached,
    pass: () => {
      hold = false;
    },
  };
}

export async function faultProxy(rule: Rule | null = null): Promise<FaultProxy> {
  const { kubernetes } = node();
  const target = new URL(kubernetes.apiServer);
  const agent = new Agent({ keepAlive: true, ca: readFileSync(kubernetes.caFile) });
  const requests: ProxiedRequest[] = [];

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(incoming);
    const described = describe(incoming, body);
    requests.push(described);
    const fault = await proxy.rule?.(described);
    if (fault === "lose") return void incoming.socket.destroy();
    if (typeof fault === "object" && "status" in fault) {
      return void response.writeHead(fault.status, fault.headers).end("{}");
    }
    const answer = await forward(incoming, body);
    const content = await buffer(answer);
    if (fault === "drop") return void incoming.socket.destroy();
    if (fault !== undefined) await fault.after();
    const type = answer.headers["content-type"];
    const wait = answer.headers["retry-after"];
    response.writeHead(answer.statusCode ?? 502, {
      ...(type === undefined ? {} : { "content-type": type }),
      ...(wait === undefined ? {} : { "retry-after": wait }),
      "content-length": content.length,
    });
    response.end(content);
  };

  const forward = (incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { host: _, connection: __, ...headers } = incoming.headers;
      const url = new URL(incoming.url ?? "/", target);
      const outgoing = httpsRequest(url, { method: incoming.method, headers, agent }, resolve);
      outgoing.on("error", reject);
      outgoing.end(body);
    });

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${port}`,
    requests,
    rule,
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

function describe(incoming: IncomingMessage, body: Buffer): ProxiedRequest {
  const url = new URL(incoming.url ?? "/", "http://any");
  const method = incoming.method ?? "GET";
  const creates = method === "POST" && !url.searchParams.has("dryRun") && !url.pathname.includes("accessreviews");
  const name = method === "POST" ? nameIn(body) : (url.pathname.split("/").at(-1) ?? "");
  return { method, path: url.pathname, query: url.searchParams, name, creates };
}

function nameIn(body: Buffer): string {
  const object: unknown = JSON.parse(body.toString("utf8") || "null");
  if (typeof object !== "object" || object === null || !("metadata" in object)) return "";
  const { metadata } = object;
  if (typeof metadata !== "object" || metadata === null || !("name" in metadata)) return "";
  return typeof metadata.name === "string" ? metadata.name : "";
}
