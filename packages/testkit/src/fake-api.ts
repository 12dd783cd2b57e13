import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";

/** A Kubernetes object, loosely. */
export interface FakeObject {
  readonly kind?: string;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly uid: string; readonly name: string };
  readonly [field: string]: unknown;
}

export interface FakeRequest {
  readonly verb: "list" | "watch" | "get";
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
}

/** An open watch that a test writes into. */
export interface FakeStream {
  event(type: string, object: unknown): void;
  bytes(bytes: Uint8Array | string): void;
  /** Ends as a server's timeout does. */
  end(): void;
  /** Cuts the connection as a crash does. */
  reset(): void;
}

/** What a fault answers instead of the model. */
export type FakeAnswer =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly stream: (stream: FakeStream) => void }
  | { readonly reset: true }
  | { readonly mute: true };

export interface FakeApiOptions {
  /** Serves HTTPS with these. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The bearer token that is asked for; any other gets 401. */
  readonly token?: string;
  /** Sends whole lists whatever `limit` says. */
  readonly ignoreLimit?: boolean;
  readonly resourceVersion?: bigint;
}

/**
 * A fake API server for list, watch and get, with faults on order: nothing else behaves like it does when it fails.
 * A collection is named by its path; every object in it by its UID.
 */
export interface FakeApi extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  readonly sockets: { readonly open: number; readonly peak: number };
  readonly openWatches: number;
  resourceVersion: bigint;
  token: string | null;
  /** Asked for each request first; undefined = the model answers. */
  fault: ((request: FakeRequest) => FakeAnswer | undefined) | null;
  /** Adds or changes an object, gives it a version and tells the watchers. */
  put(collection: string, object: FakeObject): void;
  delete(collection: string, uid: string): void;
  /** Changes the objects without telling a watcher and without history: what happens in a gap. */
  silently(change: () => void): void;
  bookmark(): void;
  /** Forgets history: watches from an earlier version get 410. */
  compact(): void;
  breakWatches(how: "end" | "reset"): void;
  /** Refuses connections from now on; `start` takes the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

interface HistoryEntry {
  readonly version: bigint;
  readonly collection: string;
  readonly type: string;
  readonly object: FakeObject;
}

interface Watcher {
  readonly collection: string;
  readonly query: URLSearchParams;
  readonly stream: FakeStream;
}

export async function fakeApi(options: FakeApiOptions = {}): Promise<FakeApi> {
  const collections = new Map<string, Map<string, FakeObject>>();
  const requests: FakeRequest[] = [];
  const watchers = new Set<Watcher>();
  const sockets = new Set<Socket>();
  let history: HistoryEntry[] = [];
  let compacted = options.resourceVersion ?? 100n;
  let peak = 0;
  let silent = false;
  let port = 0;
  let server: Server | null = null;

  const tell = (collection: string, type: string, object: FakeObject): void => {
    if (silent) return;
    history.push({ version: api.resourceVersion, collection, type, object });
    for (const watcher of watchers) {
      if (watcher.collection === collection && selected(object, watcher.query)) watcher.stream.event(type, object);
    }
  };

  const answerList = (request: FakeRequest, response: ServerResponse): void => {
    const all = [...(collections.get(request.path)?.values() ?? [])].filter((object) =>
      selected(object, request.query),
    );
    const limit = options.ignoreLimit === true ? 0 : Number(request.query.get("limit") ?? 0);
    const offset = Number(request.query.get("continue") ?? 0);
    const end = limit > 0 ? offset + limit : all.length;
    const metadata = {
      resourceVersion: String(api.resourceVersion),
      ...(end < all.length ? { continue: String(end), remainingItemCount: all.length - end } : {}),
    };
    json(response, 200, { kind: "List", apiVersion: "v1", metadata, items: all.slice(offset, end) });
  };

  const answerWatch = (request: FakeRequest, response: ServerResponse): void => {
    const from = BigInt(request.query.get("resourceVersion") ?? "0");
    if (from < compacted) {
      json(response, 410, fakeStatus(410, "Expired", "too old resource version"));
      return;
    }
    const stream = streamOf(response);
    const watcher = { collection: request.path, query: request.query, stream };
    watchers.add(watcher);
    response.on("close", () => watchers.delete(watcher));
    for (const entry of history) {
      if (entry.version <= from || entry.collection !== request.path) continue;
      if (selected(entry.object, request.query)) stream.event(entry.type, entry.object);
    }
  };

  const answerGet = (request: FakeRequest, response: ServerResponse): void => {
    const split = request.path.lastIndexOf("/");
    const name = request.path.slice(split + 1);
    const objects = [...(collections.get(request.path.slice(0, split))?.values() ?? [])];
    const found = objects.find((object) => object.metadata.name === name);
    if (found === undefined) json(response, 404, fakeStatus(404, "NotFound", `"${name}" not found`));
    else json(response, 200, found);
  };

  const answer = (request: FakeRequest, incoming: IncomingMessage, response: ServerResponse): void => {
    requests.push(request);
    const expected = api.token === null ? undefined : `Bearer ${api.token}`;
    const fault = api.fault?.(request);
    if (expected !== undefined && incoming.headers.authorization !== expected) {
      json(response, 401, fakeStatus(401, "Unauthorized", "Unauthorized"));
    } else if (fault !== undefined) misbehave(fault, incoming, response);
    else if (request.verb === "watch") answerWatch(request, response);
    else if (request.verb === "list") answerList(request, response);
    else answerGet(request, response);
  };

  const api: FakeApi = {
    get url(): string {
      return `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
    },
    requests,
    get sockets() {
      return { open: sockets.size, peak };
    },
    get openWatches(): number {
      return watchers.size;
    },
    resourceVersion: options.resourceVersion ?? 100n,
    token: options.token ?? null,
    fault: null,
    put: (collection, object) => {
      const objects = collections.get(collection) ?? new Map<string, FakeObject>();
      collections.set(collection, objects);
      const type = objects.has(object.metadata.uid) ? "MODIFIED" : "ADDED";
      api.resourceVersion += 1n;
      const stamped = withVersion(object, api.resourceVersion);
      objects.set(object.metadata.uid, stamped);
      tell(collection, type, stamped);
    },
    delete: (collection, uid) => {
      const object = collections.get(collection)?.get(uid);
      if (object === undefined) return;
      collections.get(collection)?.delete(uid);
      api.resourceVersion += 1n;
      tell(collection, "DELETED", withVersion(object, api.resourceVersion));
    },
    silently: (change) => {
      silent = true;
      change();
      silent = false;
    },
    bookmark: () => {
      for (const { stream } of watchers) {
        stream.event("BOOKMARK", {
          kind: "Pod",
          apiVersion: "v1",
          metadata: { resourceVersion: String(api.resourceVersion), creationTimestamp: null },
          spec: { containers: null },
          status: {},
        });
      }
    },
    compact: () => {
      history = [];
      compacted = api.resourceVersion;
    },
    breakWatches: (how) => {
      for (const { stream } of watchers) stream[how]();
    },
    start: () =>
      new Promise((resolve, reject) => {
        const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
          answer(parseRequest(incoming, collections), incoming, response);
        };
        const next =
          options.tls === undefined ? createHttpServer(listener) : createHttpsServer({ ...options.tls }, listener);
        next.on("connection", (socket: Socket) => {
          sockets.add(socket);
          peak = Math.max(peak, sockets.size);
          socket.on("close", () => sockets.delete(socket));
          socket.on("error", () => socket.destroy());
        });
        next.once("error", reject);
        next.listen(port, "127.0.0.1", () => {
          const address = next.address();
          if (typeof address === "object" && address !== null) port = address.port;
          resolve();
        });
        server = next;
      }),
    stop: () =>
      new Promise((resolve) => {
        if (server === null) {
          resolve();
          return;
        }
        server.close(() => resolve());
        server = null;
        for (const socket of sockets) socket.resetAndDestroy();
      }),
    [Symbol.asyncDispose]: () => api.stop(),
  };
  await api.start();
  return api;
}

/** A Status object as the API server sends them. */
export function fakeStatus(code: number, reason: string, message: string): FakeObject & { readonly code: number } {
  const metadata = { uid: "", name: "" };
  return { kind: "Status", apiVersion: "v1", metadata, status: "Failure", message, reason, code };
}

function parseRequest(incoming: IncomingMessage, collections: ReadonlyMap<string, unknown>): FakeRequest {
  const url = new URL(incoming.url ?? "/", "http://fake");
  const collection = collections.has(url.pathname) || url.pathname.endsWith("/pods");
  const verb = url.searchParams.get("watch") === "true" ? "watch" : collection ? "list" : "get";
  return { verb, path: url.pathname, query: url.searchParams, headers: incoming.headers };
}

function misbehave(fault: FakeAnswer, incoming: IncomingMessage, response: ServerResponse): void {
  if ("reset" in fault) incoming.socket.resetAndDestroy();
  else if ("stream" in fault) {
    fault.stream(streamOf(response));
  } else if ("status" in fault) {
    for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
    json(response, fault.status, fault.body ?? fakeStatus(fault.status, "", ""));
  }
}

function streamOf(response: ServerResponse): FakeStream {
  response.setHeader("content-type", "application/json");
  response.flushHeaders();
  return {
    event: (type, object) => void response.write(`${JSON.stringify({ type, object })}\n`),
    bytes: (bytes) => void response.write(bytes),
    end: () => void response.end(),
    reset: () => void response.socket?.resetAndDestroy(),
  };
}

function json(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

function withVersion(object: FakeObject, version: bigint): FakeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

/** Equality selectors only. */
function selected(object: FakeObject, query: URLSearchParams): boolean {
  const fields = (query.get("fieldSelector") ?? "").split(",").filter((term) => term !== "");
  const labels = (query.get("labelSelector") ?? "").split(",").filter((term) => term !== "");
  const holds = (root: unknown, path: readonly string[], wanted: string): boolean => {
    let value: unknown = root;
    for (const part of path) value = typeof value === "object" && value !== null ? Reflect.get(value, part) : undefined;
    return value === wanted;
  };
  const term = (text: string): readonly [string, string] => {
    const [name = "", value = ""] = text.split("=");
    return [name, value];
  };
  return (
    fields.every((text) => holds(object, term(text)[0].split("."), term(text)[1])) &&
    labels.every((text) => holds(object.metadata["labels"], [term(text)[0]], term(text)[1]))
  );
}
