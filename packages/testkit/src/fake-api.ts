import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import {
  bookmarkOf,
  fakeStatus,
  json,
  misbehave,
  parseRequest,
  selected,
  streamOf,
  withVersion,
} from "./fake-api-answers.ts";
import { createChaos } from "./fake-api-chaos.ts";
import type {
  FakeAnswer,
  FakeApi,
  FakeApiOptions,
  FakeChaos,
  FakeObject,
  FakeRequest,
  FakeStream,
  FakeTold,
} from "./fake-api-types.ts";

export { fakeStatus } from "./fake-api-answers.ts";
export type * from "./fake-api-types.ts";

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
  const told = new Map<string, FakeTold>();
  const mishaps: FakeAnswer[] = [];
  let chaos: { readonly asked: FakeChaos; readonly strike: () => void } | null = null;
  let history: HistoryEntry[] = [];
  let compacted = options.resourceVersion ?? 100n;
  let peak = 0;
  let silent = false;
  let port = 0;
  let server: Server | null = null;

  const send = (stream: FakeStream, type: string, object: FakeObject): void => {
    note(type, object);
    stream.event(type, object);
  };

  const note = (type: string, { metadata }: FakeObject): void => {
    const version = BigInt(String(metadata["resourceVersion"]));
    const before = told.get(metadata.uid);
    const [first, last] = [before?.first ?? version, before?.last ?? version];
    told.set(metadata.uid, {
      first: version < first ? version : first,
      last: version > last ? version : last,
      deleted: type === "DELETED" || before?.deleted === true,
    });
  };

  const tell = (collection: string, type: string, object: FakeObject): void => {
    if (silent) return;
    history.push({ version: api.resourceVersion, collection, type, object });
    for (const watcher of watchers) {
      if (watcher.collection === collection && selected(object, watcher.query)) send(watcher.stream, type, object);
    }
    chaos?.strike();
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
    const items = all.slice(offset, end);
    for (const object of items) note("ADDED", object);
    json(response, 200, { kind: "List", apiVersion: "v1", metadata, items });
  };

  /** All that exists, then the bookmark that says so, then a watch like any other. */
  const answerStreamingList = (request: FakeRequest, response: ServerResponse): void => {
    if (api.streamingList === "refused") {
      const message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
      json(response, 422, fakeStatus(422, "Invalid", message));
      return;
    }
    const stream = streamOf(response);
    const watcher = { collection: request.path, query: request.query, stream };
    for (const object of collections.get(request.path)?.values() ?? []) {
      if (selected(object, request.query)) send(stream, "ADDED", object);
    }
    const annotations = { "k8s.io/initial-events-end": "true" };
    if (api.streamingList === "served") stream.event("BOOKMARK", bookmarkOf(api.resourceVersion, annotations));
    watchers.add(watcher);
    response.on("close", () => watchers.delete(watcher));
  };

  const answerWatch = (request: FakeRequest, response: ServerResponse): void => {
    if (request.query.get("sendInitialEvents") === "true") {
      answerStreamingList(request, response);
      return;
    }
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
      if (selected(entry.object, request.query)) send(stream, entry.type, entry.object);
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
    const fault = api.fault?.(request) ?? mishaps.shift();
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
    told,
    get chaos(): FakeChaos | null {
      return chaos?.asked ?? null;
    },
    set chaos(asked: FakeChaos | null) {
      const victims = {
        streams: () => [...watchers].map(({ stream }) => stream),
        mute: () => watchers.clear(),
        next: (answer: FakeAnswer) => void mishaps.push(answer),
      };
      chaos = asked && { asked, strike: createChaos(asked, victims) };
      mishaps.length = 0;
    },
    resourceVersion: options.resourceVersion ?? 100n,
    token: options.token ?? null,
    streamingList: "served",
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
        stream.event("BOOKMARK", bookmarkOf(api.resourceVersion));
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
