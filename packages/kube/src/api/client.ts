import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { type Deadline, deadline } from "./deadline.ts";
import { apiStatus, statusError } from "./errors.ts";
import { type Environment, proxyFor } from "./proxy.ts";
import { type ClockSkew, createSkewMeter } from "./skew.ts";
import type { ApiTarget, Credentials } from "./target.ts";

export interface ApiRequest {
  /** For messages, such as `list pods`. */
  readonly what: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly accept?: string;
  /** Default GET. */
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** JSON. */
  readonly body?: string;
  readonly signal?: AbortSignal;
  /** Milliseconds until the whole answer is there; for a stream, until its head is. */
  readonly timeout?: number;
  /** Largest answer that is taken; beyond it TRAWLER_LIMIT. Not for streams. */
  readonly maxBytes?: number;
}

/** Any request, with whatever answer it gets. */
export interface ApiCall extends ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
}

export interface ApiAnswer {
  readonly status: number;
  /** The parsed JSON; undefined where it is none. */
  readonly body: unknown;
  /** Seconds that the server asks to wait; null where it does not. */
  readonly retryAfter: number | null;
}

export interface ApiStream extends Disposable {
  /** Bytes as they arrive, in any pieces. */
  readonly chunks: AsyncIterable<Buffer>;
}

/**
 * Speaks with one API server. Errors: TRAWLER_DENIED (401, 403), TRAWLER_UNSUPPORTED (404), TRAWLER_GONE (410),
 * TRAWLER_RETRY (429), TRAWLER_LIMIT, TRAWLER_UNAVAILABLE (anything else, no answer included). No message holds a
 * credential.
 */
export interface ApiClient extends Disposable {
  readonly target: ApiTarget;
  /** How far the server's clock is from ours, by the `Date` of its answers; null before the first. Nothing is decided by it. */
  clockSkew(): ClockSkew | null;
  /** The parsed JSON of one request, a GET unless it says otherwise. A conflict is an ApiError with status 409. */
  get(request: ApiRequest): Promise<unknown>;
  /** One GET whose answer is read piece by piece; disposing it ends its connection. */
  stream(request: ApiRequest): Promise<ApiStream>;
  /**
   * One request whose answer is handed over whatever its status is. Rejects only where there is no answer: then it is
   * not known whether the server has done it.
   */
  call(request: ApiCall): Promise<ApiAnswer>;
}

export interface ApiClientOptions {
  readonly target: ApiTarget;
  /** Proxy variables; default none. */
  readonly environment?: Environment;
  readonly userAgent?: string;
  /** Connections that are kept open between requests. Default 1. */
  readonly keptConnections?: number;
  /** Wall clock, milliseconds; for the skew only. Default the machine's. */
  readonly now?: () => number;
}

const DEFAULT_TIMEOUT = 30_000;
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
/** Of an answer that is no success. */
const ERROR_BYTES = 64 * 1024;
/** Most seconds of a Retry-After that are believed. */
const LONGEST_WAIT = 300;

export function createApiClient(options: ApiClientOptions): ApiClient {
  const { target } = options;
  const proxy = proxyFor(target.server, options.environment ?? {});
  const agents = agentPool(target.server, proxy, options.keptConnections ?? 1);

  const skew = createSkewMeter();
  const now = options.now ?? Date.now;

  const authorized = async (request: ApiRequest, fresh: boolean, signal: AbortSignal): Promise<IncomingMessage> =>
    send(request, await unlessAborted(target.credentials(fresh), signal), signal);

  const open = async (request: ApiRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    const attempt = async (fresh: boolean): Promise<IncomingMessage> => {
      const response = await authorized(request, fresh, signal);
      if (response.statusCode === 200 || response.statusCode === 201) return response;
      const body = await collect(response, ERROR_BYTES, request.what).catch(() => Buffer.alloc(0));
      throw statusError(request.what, response.statusCode ?? 0, parse(body), response.headers["retry-after"]);
    };
    try {
      return await attempt(false);
    } catch (error) {
      // A rotated token or certificate: read the files again and try once more at once.
      if (apiStatus(error) !== 401) throw error;
      return attempt(true);
    }
  };

  const send = (request: ApiRequest, credentials: Credentials, signal: AbortSignal): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const url = new URL(target.server);
      url.pathname = url.pathname.replace(/\/$/, "") + request.path;
      for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value);
      const headers: Record<string, string> = {
        ...credentials.headers,
        accept: request.accept ?? "application/json",
        "user-agent": options.userAgent ?? "trawler",
      };
      if (credentials.authorization !== null) headers["authorization"] = credentials.authorization;
      const call = url.protocol === "https:" ? httpsRequest : httpRequest;
      const body = request.body ?? null;
      if (body !== null) {
        headers["content-type"] = "application/json";
        // Node sends the body of a DELETE without its length, and the server would act without having read it.
        headers["content-length"] = String(Buffer.byteLength(body));
      }
      const method = request.method ?? "GET";
      const sentAt = now();
      const outgoing = call(url, { method, agent: agents.get(credentials), headers, signal });
      outgoing.on("response", (response) => {
        skew.observe(response.headers.date, sentAt, now());
        resolve(response);
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });

  /** Our own errors pass; the rest says what was tried and why it failed. */
  const failure = (request: ApiRequest, error: unknown, limit: Deadline): unknown => {
    if (errorCode(error)?.startsWith("TRAWLER_")) return error;
    const reason = limit.expired() ? "no answer in time" : (innerCode(error) ?? errorMessage(error));
    const where = `${target.server.protocol}//${target.server.host}`;
    return new TrawlerError("TRAWLER_UNAVAILABLE", `${request.what}: cannot reach ${where}: ${reason}`);
  };

  return {
    target,
    clockSkew: skew.estimate,
    get: async (request) => {
      using limit = deadline(request.timeout ?? DEFAULT_TIMEOUT, request.signal);
      try {
        const response = await open(request, limit.signal);
        const body = parse(await collect(response, request.maxBytes ?? DEFAULT_MAX_BYTES, request.what));
        if (body === undefined) throw new TrawlerError("TRAWLER_UNAVAILABLE", `${request.what}: the answer is no JSON`);
        return body;
      } catch (error) {
        throw failure(request, error, limit);
      }
    },
    stream: async (request) => {
      const controller = new AbortController();
      using limit = deadline(request.timeout ?? DEFAULT_TIMEOUT, request.signal);
      const forward = (): void => controller.abort(limit.signal.reason);
      limit.signal.addEventListener("abort", forward, { once: true });
      try {
        const response = await open(request, controller.signal);
        return { chunks: response, [Symbol.dispose]: () => void response.destroy() };
      } catch (error) {
        throw failure(request, error, limit);
      } finally {
        limit.signal.removeEventListener("abort", forward);
      }
    },
    call: async (request) => {
      using limit = deadline(request.timeout ?? DEFAULT_TIMEOUT, request.signal);
      try {
        let response = await authorized(request, false, limit.signal);
        if (response.statusCode === 401) {
          response.resume();
          response = await authorized(request, true, limit.signal);
        }
        const body = parse(await collect(response, request.maxBytes ?? DEFAULT_MAX_BYTES, request.what));
        const seconds = Number(response.headers["retry-after"] ?? Number.NaN);
        const asked = Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, LONGEST_WAIT) : null;
        return { status: response.statusCode ?? 0, body, retryAfter: asked };
      } catch (error) {
        throw failure(request, error, limit);
      }
    },
    [Symbol.dispose]: () => agents.close(),
  };
}

/** One kept-alive agent at a time; a changed certificate makes a new one. */
function agentPool(
  server: URL,
  proxy: string | null,
  maxFreeSockets: number,
): { get(credentials: Credentials): HttpAgent | HttpsAgent; close(): void } {
  let mark = "";
  let agent: HttpAgent | HttpsAgent | null = null;
  // Node's own NO_PROXY knows no CIDR: whether to use the proxy is decided before, so none is given here.
  const proxyEnv = proxy === null ? {} : { proxyEnv: { HTTPS_PROXY: proxy, HTTP_PROXY: proxy } };
  const common = { keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets, ...proxyEnv };
  return {
    get: (credentials) => {
      const now = JSON.stringify(credentials.tls);
      if (agent === null || now !== mark) {
        agent?.destroy();
        mark = now;
        agent =
          server.protocol === "https:"
            ? new HttpsAgent({ ...common, ...tlsOptions(credentials.tls) })
            : new HttpAgent(common);
      }
      return agent;
    },
    close: () => agent?.destroy(),
  };
}

/** An address cannot be asked for by name (RFC 6066, 3); the certificate has to hold it all the same. */
function tlsOptions(tls: Credentials["tls"]): ConnectionOptions {
  const { servername } = tls;
  if (servername === undefined || isIP(servername) === 0) return tls;
  return {
    ...tls,
    servername: "",
    checkServerIdentity: (_host, certificate) => checkServerIdentity(servername, certificate),
  };
}

/** A credential plugin may never end; the call does. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

async function collect(response: IncomingMessage, maxBytes: number, what: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > maxBytes)
      throw new TrawlerError("TRAWLER_LIMIT", `${what}: the answer is larger than ${maxBytes} bytes`);
    parts.push(chunk);
  }
  return Buffer.concat(parts, size);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** The code of a network error, also where several addresses were tried. */
function innerCode(error: unknown): string | undefined {
  if (error instanceof AggregateError) return errorCode(error.errors[0]) ?? errorCode(error);
  return errorCode(error);
}
