import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { ListenOptions } from "node:net";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";

export interface HealthOptions {
  readonly address: string;
  readonly port: number;
  /** Null = ready, else why not. */
  readonly unready: () => string | null;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
}

/** A listening server; disposing closes it with its connections. */
export interface Listening extends AsyncDisposable {
  /** Port, where it listens on one. */
  readonly port: number;
}

/** Serves /healthz, /readyz and /metrics; no data of workloads. Throws TRAWLER_BUSY where the port is taken. */
export async function serveHealth({ address, port, unready, metrics }: HealthOptions): Promise<Listening> {
  const server = boundedServer((request, response) => {
    const path = request.url?.split("?")[0];
    if (request.method !== "GET" && request.method !== "HEAD") return answer(response, 405, "only GET\n");
    if (path === "/healthz") return answer(response, 200, "ok\n");
    if (path === "/readyz") {
      const reason = unready();
      return answer(response, reason === null ? 200 : 503, reason === null ? "ready\n" : `not ready: ${reason}\n`);
    }
    if (path === "/metrics") {
      metrics.text().then(
        (text) => answer(response, 200, text, metrics.contentType),
        (error: unknown) => answer(response, 500, `${errorMessage(error)}\n`),
      );
      return;
    }
    answer(response, 404, "there are /healthz, /readyz and /metrics\n");
  });
  try {
    return await listen(server, { host: address, port });
  } catch (error) {
    const code = errorCode(error);
    const why =
      code === "EADDRINUSE"
        ? "is taken: is another agent running? Choose another port: --set http.port=9468 (0 takes a free one)"
        : code === "EACCES"
          ? "needs more rights: choose a port above 1023 with --set http.port=9467"
          : `cannot be used (${code ?? errorMessage(error)}): --set http.address=127.0.0.1 names one of this host`;
    throw new TrawlerError("TRAWLER_BUSY", `the address ${address}:${port} for health and metrics ${why}`, {
      cause: error,
    });
  }
}

/** A server that a slow or greedy client can't hold up. */
export function boundedServer(listener: RequestListener): Server {
  const server = createServer(
    { headersTimeout: 5_000, requestTimeout: 10_000, maxHeaderSize: 8192, keepAliveTimeout: 5_000 },
    listener,
  );
  server.maxConnections = 64;
  return server;
}

export async function listen(server: Server, options: ListenOptions): Promise<Listening> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(options, resolve);
  await promise;
  // A later error of the listener must not end the agent; the requests show it.
  server.off("error", reject).on("error", () => undefined);
  server.unref();
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: async () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

export function answer(
  response: ServerResponse<IncomingMessage>,
  status: number,
  body: string,
  type = "text/plain; charset=utf-8",
): void {
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  });
  response.end(body);
}
