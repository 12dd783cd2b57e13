import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { type RequestListener, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import type { Explanation } from "@trawler/engine";
import { type Envelope, errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { answer, boundedServer, type Listening, listen } from "./http.ts";

/** Where the agent answers with data: for root in /run, else beside its state. */
export function socketPaths(stateFolder: string): readonly string[] {
  return ["/run/trawler/trawl.sock", join(stateFolder, "trawl.sock")];
}

/** Bytes that a reader of /v1/frames may be behind before frames pass it by. */
const MOST_BEHIND = 4 * 1024 ** 2;
const MOST_READERS = 8;

/** Hands frames to whoever reads /v1/frames; a slow reader misses frames and holds nothing up. */
export class FrameReaders {
  readonly #readers = new Map<ServerResponse, string | null>();
  #last: ReadonlySet<string> = new Set();

  /** `name` null = all subjects. */
  add(response: ServerResponse, name: string | null): boolean {
    if (this.#readers.size >= MOST_READERS) return false;
    this.#readers.set(response, name);
    response.once("close", () => this.#readers.delete(response));
    return true;
  }

  /** What was in the batch before is one that is tried again. */
  write(batch: readonly Envelope[]): void {
    const envelopes = batch.filter(({ id }) => !this.#last.has(id));
    this.#last = new Set(batch.map(({ id }) => id));
    for (const [response, name] of this.#readers) {
      for (const envelope of envelopes) {
        if (name !== null && envelope.name !== name && envelope.key !== name) continue;
        if (response.writableLength > MOST_BEHIND) break;
        response.write(envelope.bytes);
        response.write("\n");
      }
    }
  }

  end(): void {
    for (const response of this.#readers.keys()) response.end();
  }
}

export interface DataOptions {
  readonly stateFolder: string;
  readonly readers: FrameReaders;
  /** By name or id; empty where nothing of that name was seen. */
  readonly explain: (name: string) => readonly Explanation[];
}

/** Answers /v1/explain and /v1/frames. */
export function dataListener(readers: FrameReaders, explain: DataOptions["explain"]): RequestListener {
  return (incoming, response) => {
    const url = URL.parse(incoming.url ?? "/", "http://agent");
    if (url === null) return answer(response, 400, "no address\n");
    if (incoming.method !== "GET") return answer(response, 405, "only GET\n");
    if (url.pathname === "/v1/explain") {
      const found = explain(url.searchParams.get("pod") ?? "");
      return answer(response, found.length > 0 ? 200 : 404, JSON.stringify(found), "application/json");
    }
    if (url.pathname === "/v1/frames") {
      if (!readers.add(response, url.searchParams.get("pod"))) return answer(response, 503, "too many readers\n");
      response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
      response.flushHeaders();
      return;
    }
    answer(response, 404, "there are /v1/explain?pod=NAMESPACE/NAME and /v1/frames\n");
  };
}

/**
 * Serves /v1/explain and /v1/frames on a unix socket that this user alone may open. Returns its path; throws
 * TRAWLER_DENIED where no folder takes it, TRAWLER_BUSY where an agent answers there.
 */
export async function serveData({
  stateFolder,
  readers,
  explain,
}: DataOptions): Promise<Listening & { readonly path: string }> {
  const server = boundedServer(dataListener(readers, explain));
  const failures: string[] = [];
  for (const path of socketPaths(stateFolder)) {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      if (await isAnswered(path)) throw new TrawlerError("TRAWLER_BUSY", `another agent answers at ${path}`);
      rmSync(path, { force: true });
      const listening = await listen(server, { path });
      chmodSync(path, 0o600);
      return { ...listening, path };
    } catch (error) {
      if (errorCode(error) === "TRAWLER_BUSY" && path !== socketPaths(stateFolder).at(-1)) continue;
      if (errorCode(error) === "TRAWLER_BUSY") throw error;
      failures.push(`${path} (${errorCode(error) ?? errorMessage(error)})`);
    }
  }
  throw new TrawlerError("TRAWLER_DENIED", `no socket can be made for trawl explain: ${failures.join(", ")}`);
}

function isAnswered(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.setTimeout(1_000, () => resolve(false));
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** Largest answer that is read, bytes. */
const MOST_ANSWER = 8 * 1024 ** 2;

/** Asks the running agent. Throws TRAWLER_UNAVAILABLE where none answers on any of the paths. */
export async function askAgent(paths: readonly string[], target: string): Promise<{ status: number; body: string }> {
  const failures: string[] = [];
  for (const socketPath of paths) {
    try {
      return await get(socketPath, target);
    } catch (error) {
      failures.push(`${socketPath} (${errorCode(error) ?? errorMessage(error)})`);
    }
  }
  throw new TrawlerError(
    "TRAWLER_UNAVAILABLE",
    `no agent answers: ${failures.join(", ")}; start one with trawl run, and ask as the same user with the same --config`,
  );
}

function get(socketPath: string, target: string): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const outgoing = request({ socketPath, path: target, timeout: 5_000 }, (response) => {
    let body = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      body += chunk;
      if (body.length > MOST_ANSWER) outgoing.destroy(new Error("the answer is too large"));
    });
    response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    response.on("error", reject);
  });
  outgoing.on("timeout", () => outgoing.destroy(new Error("no answer within 5 s")));
  outgoing.on("error", reject);
  outgoing.end();
  return promise;
}
