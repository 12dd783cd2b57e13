import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { errorCode, errorMessage, type Logger } from "@trawler/plugin-api";
import type { FastifyError, FastifyInstance } from "fastify";
import { MAX_TEXT } from "../template/text.ts";
import { isAuthorized, isLocalProgram } from "./auth.ts";
import { readBody } from "./body.ts";
import type { RotatingCredentials, TlsPair } from "./credentials.ts";
import { type ErrorBody, isRefusal, Refusal } from "./refusal.ts";
import { SHARED } from "./schemas.ts";

export interface HttpOptions {
  readonly credentials: RotatingCredentials;
  readonly log: Logger;
  readonly version: string;
  /** A request was answered. `route` is the pattern, never what a client sent. */
  readonly onAnswer?: (answered: Answered) => void;
}

export interface Answered {
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

/** A template in JSON, with its line breaks and quotes escaped, and the values beside it. */
const MAX_BODY = Math.ceil(MAX_TEXT * 1.25);
const SERVER = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 30_000,
} as const;
const MAX_CONNECTIONS = 256;
/** Without a token, as nothing in them is about anything that was provisioned. */
const OPEN: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics", "/openapi.json"]);
const MOST_FAULTS = 50;

/** The frame of the service: limits, authentication, errors, the log of requests. Routes are added by others. */
export async function createHttp({ credentials, log, version, onAnswer }: HttpOptions): Promise<FastifyInstance> {
  const [{ fastify }, { default: swagger }] = await Promise.all([import("fastify"), import("@fastify/swagger")]);
  const { tls } = credentials;
  const app = fastify({
    bodyLimit: MAX_BODY,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 256 },
    // Faults are told all at once; nothing is turned into what it is not, and nothing is dropped in silence.
    ajv: { customOptions: { allErrors: true, coerceTypes: false, removeAdditional: false, useDefaults: false } },
    serverFactory: (handler) => {
      const made = tls === null ? createServer(SERVER, handler) : secureServer(tls, credentials, handler);
      made.maxConnections = MAX_CONNECTIONS;
      return made;
    },
  });
  // Schemas of answers are a description: an answer is written as it is.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) => {
    try {
      done(null, readBody(String(text)));
    } catch (error) {
      done(error instanceof Error ? error : new Error(errorMessage(error)));
    }
  });
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("cache-control", "no-store").header("x-content-type-options", "nosniff");
    if (OPEN.has(request.routeOptions.url ?? "")) return;
    const { token } = credentials;
    if (token === null) {
      if (isLocalProgram(request.headers)) return;
      const message = "without a token this service answers programs of its host only, no web pages";
      throw new Refusal(403, { code: "TRAWLER_DENIED", message });
    }
    if (isAuthorized(request.headers.authorization, token)) return;
    void reply.header("www-authenticate", "Bearer");
    throw new Refusal(401, { code: "TRAWLER_DENIED", message: "a bearer token is needed, and this is not it" });
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, routeOptions, ip } = request;
    const answered = { method, route: routeOptions.url ?? "unknown", status: reply.statusCode };
    onAnswer?.(answered);
    log.debug({ ...answered, from: ip, milliseconds: Math.round(reply.elapsedTime) }, "request");
  });
  app.setNotFoundHandler(() => {
    throw new Refusal(404, { code: "TRAWLER_GONE", message: "there is nothing here; see /openapi.json" });
  });
  app.setErrorHandler<FastifyError | Error>((error, _request, reply) => {
    const { status, body, retryAfter } = refusalOf(error, log);
    if (retryAfter !== null) void reply.header("retry-after", String(retryAfter));
    return reply.code(status).type("application/json").send(body);
  });
  for (const schema of SHARED) app.addSchema(schema);
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Trawler provisioning",
        version,
        description: "Instantiate templates, follow what is made, undo exactly that.",
      },
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
      security: [{ bearer: [] }],
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json["$id"] ?? `def-${index}`) },
  });
  return app;
}

function secureServer(tls: TlsPair, credentials: RotatingCredentials, handler: RequestListener): Server {
  const made = createSecureServer({ ...SERVER, ...tls, minVersion: "TLSv1.2" }, handler);
  credentials.follow(made);
  return made;
}

const STATUS: Readonly<Record<string, number>> = {
  TRAWLER_CONFIG_INVALID: 400,
  TRAWLER_DENIED: 403,
  TRAWLER_GONE: 404,
  TRAWLER_BUSY: 409,
  TRAWLER_REFUSED: 409,
  TRAWLER_LIMIT: 429,
  TRAWLER_UNAVAILABLE: 503,
};

/** Any error as an answer. What has no code of ours is a fault of ours: its text goes to the log only. */
function refusalOf(
  error: FastifyError | Error,
  log: Logger,
): { readonly status: number; readonly body: ErrorBody; readonly retryAfter: number | null } {
  if (isRefusal(error)) return error;
  if ("validation" in error && error.validation !== undefined) {
    const answers = error.validation.slice(0, MOST_FAULTS).map(({ instancePath, message = "is wrong", params }) => {
      const what = params["additionalProperty"] ?? params["allowedValues"];
      return {
        path: instancePath,
        message: what === undefined ? message : `${message}: ${String(what).slice(0, 200)}`,
      };
    });
    const first = answers[0];
    const message = `the request is wrong: ${first?.path === "" ? "it" : first?.path} ${first?.message}`;
    return { status: 400, body: { code: "TRAWLER_CONFIG_INVALID", message, answers }, retryAfter: null };
  }
  const code = errorCode(error) ?? "UNKNOWN";
  const status = STATUS[code];
  if (status !== undefined) {
    const retryAfter = status === 429 || status === 503 ? 5 : null;
    return { status, body: { code, message: error.message }, retryAfter };
  }
  const own = "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : 500;
  if (own < 500)
    return { status: own, body: { code: "TRAWLER_CONFIG_INVALID", message: error.message }, retryAfter: null };
  log.error({ code }, `a request failed: ${errorMessage(error)}`);
  return {
    status: 500,
    body: { code: "TRAWLER_PLUGIN_FAILED", message: "a fault of the service; see its log" },
    retryAfter: null,
  };
}
