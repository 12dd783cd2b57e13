import { createServer, type ServerResponse } from "node:http";
import { podFactory } from "./pods.ts";

/**
 * A fake API server in a process of its own: pods made by their number, whole lists and pages of them, and a watch
 * that plays a churn of pods at a rate. It does as little as it can while a client is measured.
 */

/** What the owner of the process asks for. */
export type ToServer =
  /** Pods that live and end: each one is added, changed twice and deleted, so four events. */
  { readonly type: "churn"; readonly pods: number; readonly first: number; readonly eventsPerSecond: number };

export type FromServer =
  | { readonly type: "listening"; readonly url: string }
  | { readonly type: "watching" }
  /** Everything is on the wire. */
  | { readonly type: "churned"; readonly events: number; readonly seconds: number };

const PODS = "/api/v1/pods";
/** Pods that a churn makes have numbers from here on. */
const CHURN_FROM = 10_000_000;
const STEP = 10;

const count = Number(process.argv[2] ?? 0);
const factory = podFactory();
let version = 1_000_000_000;
let watch: ServerResponse | null = null;

const tell = (message: FromServer): void => void process.send?.(message);

function page(from: number, to: number, last: boolean): Buffer {
  const metadata = { resourceVersion: String(version), ...(last ? {} : { continue: String(to) }) };
  const head = `{"kind":"PodList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`;
  return Buffer.concat([Buffer.from(head), items(from, to), Buffer.from("]}\n")]);
}

function items(from: number, to: number): Buffer {
  const parts: Buffer[] = [];
  for (let index = from; index < to; index += 1) {
    if (index > from) parts.push(Buffer.from(","));
    parts.push(factory.render({ index, version: 1_000_000_000 - count + index, phase: "Running" }));
  }
  return Buffer.concat(parts);
}

/** The next page is made while the client works on this one. */
const ready = new Map<number, Buffer>();

function list(query: URLSearchParams, response: ServerResponse): void {
  const limit = Number(query.get("limit") ?? 0);
  const from = Number(query.get("continue") ?? 0);
  response.writeHead(200, { "content-type": "application/json" });
  if (limit === 0) {
    void whole(response);
    return;
  }
  const at = (start: number): Buffer => page(start, Math.min(start + limit, count), start + limit >= count);
  response.end(ready.get(from) ?? at(from));
  ready.delete(from);
  for (let next = from + limit; next < Math.min(from + 4 * limit, count); next += limit) {
    if (!ready.has(next)) ready.set(next, at(next));
  }
}

async function whole(response: ServerResponse): Promise<void> {
  const metadata = JSON.stringify({ resourceVersion: String(version) });
  response.write(`{"kind":"PodList","apiVersion":"v1","metadata":${metadata},"items":[`);
  for (let from = 0; from < count; from += 500) {
    if (from > 0) response.write(",");
    const room = response.write(items(from, Math.min(from + 500, count)));
    if (!room) await new Promise((resolve) => response.once("drain", resolve));
  }
  response.end("]}\n");
}

/** The list as a stream: each pod as an event, then the mark of the end. */
async function streamed(response: ServerResponse): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const parts: Buffer[] = [];
    for (let index = from; index < Math.min(from + 100, count); index += 1) {
      parts.push(Buffer.from('{"type":"ADDED","object":'));
      parts.push(factory.render({ index, version: 1_000_000_000 - count + index, phase: "Running" }));
      parts.push(Buffer.from("}\n"));
    }
    const room = response.write(Buffer.concat(parts));
    if (!room) await new Promise((resolve) => response.once("drain", resolve));
  }
  response.write(endOfList());
}

function endOfList(): string {
  const metadata = { resourceVersion: String(version), annotations: { "k8s.io/initial-events-end": "true" } };
  return `${JSON.stringify({ type: "BOOKMARK", object: { kind: "Pod", metadata } })}\n`;
}

function churn({ pods, first, eventsPerSecond }: ToServer): void {
  const begun = performance.now();
  const total = pods * 4;
  // Of a window of pods that live at once: an event goes to each in turn.
  const window = Math.min(pods, 500);
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(total, Math.floor(((performance.now() - begun) / 1000) * eventsPerSecond));
    const parts: Buffer[] = [];
    for (; sent < due; sent += 1) {
      const round = Math.floor(sent / (window * 4));
      const within = sent - round * window * 4;
      const size = Math.min(window, pods - round * window);
      const stage = Math.floor(within / size);
      const index = CHURN_FROM + first + round * window + (within % size);
      version += 1;
      const phase = stage === 0 ? "Pending" : stage === 1 ? "Running" : "Succeeded";
      const type = stage === 0 ? "ADDED" : stage === 3 ? "DELETED" : "MODIFIED";
      parts.push(Buffer.from(`{"type":"${type}","object":`), factory.render({ index, version, phase }));
      parts.push(Buffer.from("}\n"));
    }
    if (parts.length > 0) watch?.write(Buffer.concat(parts));
    if (sent < total) return;
    clearInterval(timer);
    tell({ type: "churned", events: sent, seconds: (performance.now() - begun) / 1000 });
  }, STEP);
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://fake");
  if (searchParams.get("sendInitialEvents") === "true") {
    response.writeHead(200, { "content-type": "application/json" });
    if (pathname === PODS) void streamed(response);
    else response.write(endOfList());
  } else if (pathname !== PODS) {
    response.writeHead(200, { "content-type": "application/json" });
    if (searchParams.get("watch") === "true") response.flushHeaders();
    else response.end(`{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"${version}"},"items":[]}`);
  } else if (searchParams.get("watch") === "true") {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    watch = response;
    tell({ type: "watching" });
  } else list(searchParams, response);
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) {
    tell({ type: "listening", url: `http://127.0.0.1:${address.port}` });
  }
});
process.on("message", (message: ToServer) => churn(message));
process.on("disconnect", () => process.exit(0));
