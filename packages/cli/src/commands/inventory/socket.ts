import { chmodSync, rmSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import type { Collector, StoreReader } from "@trawler/inventory";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { answer, boundedServer, type Listening, listen } from "../../http.ts";

/** Whatever its store. */
export type AnyCollector = Collector<StoreReader>;

const REFRESH_MILLISECONDS = 15_000;
const MOST_ANSWER = 8 * 1024 ** 2;

function socketPath(folder: string): string {
  return join(folder, "inventory.sock");
}

/** Answers `status` and `refresh` on a unix socket that this user alone may open. `collector` null = standby. */
export async function serveCollector(folder: string, collector: () => AnyCollector | null): Promise<Listening> {
  const path = socketPath(folder);
  const server = boundedServer((incoming, response) => {
    const url = URL.parse(incoming.url ?? "/", "http://inventory");
    if (url === null) return answer(response, 400, "no address\n");
    const running = collector();
    const give = (status: number, body: object): void =>
      answer(response, status, JSON.stringify(body), "application/json");
    if (url.pathname === "/v1/status" && incoming.method === "GET") {
      give(200, running === null ? { leader: false } : { leader: true, ...running.status() });
      return;
    }
    if (url.pathname === "/v1/changes" && incoming.method === "GET" && running !== null) {
      changesOf(running, url.searchParams).then(({ status, body }) => give(status, body));
      return;
    }
    if (url.pathname !== "/v1/refresh" || incoming.method !== "POST") {
      give(404, {
        code: "TRAWLER_UNSUPPORTED",
        message: "there are GET /v1/status, GET /v1/changes and POST /v1/refresh",
      });
      return;
    }
    if (running === null) {
      give(503, { code: "TRAWLER_UNAVAILABLE", message: "this replica is a standby: ask the leader" });
      return;
    }
    const target = {
      kind: url.searchParams.get("kind") ?? "",
      namespace: url.searchParams.get("namespace"),
      name: url.searchParams.get("name") ?? "",
    };
    running.refresh(target, AbortSignal.timeout(REFRESH_MILLISECONDS)).then(
      (uid) => give(200, { uid }),
      (error: unknown) => give(502, { code: errorCode(error) ?? "UNKNOWN", message: errorMessage(error) }),
    );
  });
  rmSync(path, { force: true });
  const listening = await listen(server, { path });
  chmodSync(path, 0o600);
  return listening;
}

const MOST_CHANGES = 1_000;

/** `?since=CURSOR&limit=COUNT`; 410 for a cursor that has expired, with where to begin again. */
async function changesOf(
  { store }: AnyCollector,
  parameters: URLSearchParams,
): Promise<{ status: number; body: object }> {
  const limit = Math.min(Math.max(1, Math.trunc(Number(parameters.get("limit") ?? MOST_CHANGES)) || 1), MOST_CHANGES);
  try {
    return { status: 200, body: await store.feed(parameters.get("since"), limit) };
  } catch (error) {
    const code = errorCode(error) ?? "UNKNOWN";
    const gone = code === "TRAWLER_GONE";
    return {
      status: gone ? 410 : 500,
      body: { code, message: errorMessage(error), ...(gone ? { snapshot: "/v1/changes" } : {}) },
    };
  }
}

/** Asks the collector that runs here; null where none answers. */
export function askCollector(
  folder: string,
  method: "GET" | "POST",
  target: string,
): Promise<{ readonly status: number; readonly body: unknown } | null> {
  const { promise, resolve, reject } = Promise.withResolvers<{
    readonly status: number;
    readonly body: unknown;
  } | null>();
  const outgoing = request(
    { socketPath: socketPath(folder), path: target, method, timeout: REFRESH_MILLISECONDS + 5_000, agent: false },
    (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MOST_ANSWER) outgoing.destroy(new Error("the answer is too large"));
      });
      response.on("end", () => {
        try {
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
        } catch {
          reject(new TrawlerError("TRAWLER_UNAVAILABLE", "the collector's answer is no JSON"));
        }
      });
      response.on("error", reject);
    },
  );
  outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in time")));
  outgoing.on("error", (error) => {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ECONNREFUSED") resolve(null);
    else reject(error);
  });
  outgoing.end();
  return promise;
}
