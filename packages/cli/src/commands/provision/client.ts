import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { sleep } from "@trawler/kube";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { ErrorBody } from "@trawler/provision";
import { VERSION } from "../../version.ts";
import { eventsOf, type ServedEvent } from "./events.ts";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Seconds. */
  readonly retryAfter: number | null;
}

const TIMEOUT = 120_000;
/** Milliseconds: events, or signs that the connection lives, come each fifteen seconds. */
const SILENCE = 45_000;
const PATIENCE = 300_000;
const NEVER = new AbortController().signal;
const MOST_ANSWER = 64 * 1024 ** 2;
/** Attempts that come to no answer, or to one that asks to come again: a service that starts again is back by then. */
const TRIES = 3;
export const MANY_TRIES = 6;

/** Speaks with one service. No message holds the token. */
export class ServiceClient {
  readonly url: URL;
  readonly #token: string | null;
  readonly #ca: string | null;
  readonly #patience: number;

  /** `patience`: milliseconds for which a service may be away while its events are followed. */
  constructor(url: URL, token: string | null, ca: string | null, patience: number = PATIENCE) {
    this.#patience = patience;
    this.url = url;
    this.#token = token;
    this.#ca = ca;
  }

  /**
   * One request that may be sent again: what changes something is named by an instance. Throws TRAWLER_UNAVAILABLE where
   * there is no answer, TRAWLER_DENIED where the token is not taken; other answers are handed over.
   */
  async request(method: "GET" | "POST", path: string, body?: object, tries: number = TRIES): Promise<Answer> {
    const text = body === undefined ? null : JSON.stringify(body);
    for (let attempt = 1; ; attempt++) {
      let wait = Math.min(500 * 2 ** attempt, 10_000) * (0.5 + Math.random() / 2);
      try {
        const answer = await collect(await this.#send(method, path, text, {}));
        const later = answer.status === 429 || answer.status === 503;
        if (!later || attempt >= tries) return this.#admitted(answer);
        wait = Math.max(wait, Math.min(answer.retryAfter ?? 0, 30) * 1000);
      } catch (error) {
        if (errorCode(error) !== "TRAWLER_UNAVAILABLE" || attempt >= tries) throw error;
      }
      await delay(wait);
    }
  }

  /** The body of a request that is done; throws what the service says otherwise. */
  async ask(method: "GET" | "POST", path: string, body?: object): Promise<unknown> {
    const answer = await this.request(method, path, body);
    if (answer.status < 300) return answer.body;
    throw failureOf(answer);
  }

  /**
   * Events behind this one, until the service ends them or the signal aborts. A connection that breaks, or is silent, is
   * made anew and goes on behind the last event; throws TRAWLER_UNAVAILABLE where the service does not come back.
   */
  async *events(path: string, after: number, signal?: AbortSignal): AsyncGenerator<ServedEvent> {
    let last = after;
    let lost = performance.now();
    const stopped = (): boolean => signal?.aborted === true;
    for (let failures = 0; !stopped(); ) {
      try {
        const more = { accept: "text/event-stream", ...(last > 0 && { "last-event-id": String(last) }) };
        const response = await this.#send("GET", path, null, more, SILENCE);
        if (response.statusCode === 204) return void response.destroy();
        if (response.statusCode !== 200) throw failureOf(this.#admitted(await collect(response)));
        using _ended = destroyed(response, signal);
        for await (const event of eventsOf(response)) {
          failures = 0;
          last = event.id;
          yield event;
          if (event.type === "end") return;
        }
        // It ended in order, without an end: this is all that there is.
        if (path.includes("follow=false")) return;
        lost = performance.now();
      } catch (error) {
        if (stopped()) return;
        const code = errorCode(error);
        if (code !== "TRAWLER_UNAVAILABLE" && code !== "ECONNRESET") throw error;
        if (failures++ === 0) lost = performance.now();
        if (performance.now() - lost > this.#patience) throw error;
      }
      await sleep(Math.min(500 * 2 ** failures, 10_000) * (0.5 + Math.random() / 2), signal ?? NEVER);
    }
  }

  #admitted(answer: Answer): Answer {
    if (answer.status !== 401) return answer;
    const message =
      this.#token === null
        ? `${this.url.origin} asks for a token: --token-file, or TRAWLER_PROVISION_TOKEN_FILE`
        : `${this.url.origin} does not take this token`;
    throw new TrawlerError("TRAWLER_DENIED", message);
  }

  #send(
    method: string,
    path: string,
    body: string | null,
    more: Readonly<Record<string, string>>,
    silence: number = TIMEOUT,
  ): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const url = new URL(this.url);
    const [name = "", query = ""] = path.split("?");
    url.pathname = url.pathname.replace(/\/$/, "") + name;
    url.search = query;
    const call = url.protocol === "https:" ? httpsRequest : httpRequest;
    const outgoing = call(url, {
      method,
      // One request a connection: it is a command that ends.
      agent: false,
      ...(this.#ca !== null && { ca: this.#ca }),
      headers: {
        accept: "application/json",
        "user-agent": `trawler/${VERSION} provision`,
        ...(this.#token !== null && { authorization: `Bearer ${this.#token}` }),
        ...(body !== null && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
        ...more,
      },
    });
    outgoing.setTimeout(silence, () => outgoing.destroy(new Error("no answer in time")));
    outgoing.on("response", resolve);
    outgoing.on("error", (error) => reject(unreachable(url, error)));
    outgoing.end(body ?? undefined);
    return promise;
  }
}

/** Ends the answer when the signal aborts, and when it is disposed. */
function destroyed(response: IncomingMessage, signal: AbortSignal | undefined): Disposable {
  const end = (): void => void response.destroy();
  signal?.addEventListener("abort", end, { once: true });
  return {
    [Symbol.dispose]: () => {
      signal?.removeEventListener("abort", end);
      end();
    },
  };
}

/** What the service says of a request that it did not do, as the command itself would say it. */
export function failureOf({ status, body }: Answer): TrawlerError {
  const { message } = errorBody(body);
  if (status === 409) return new TrawlerError("TRAWLER_BUSY", message);
  if (status === 403) return new TrawlerError("TRAWLER_DENIED", message);
  if (status < 500 && status !== 429) return new TrawlerError("TRAWLER_CONFIG_INVALID", message);
  return new TrawlerError("TRAWLER_UNAVAILABLE", `the service cannot do it now: ${message}`);
}

export function errorBody(body: unknown): ErrorBody {
  const known = typeof body === "object" && body !== null && "message" in body && typeof body.message === "string";
  return known ? (body as ErrorBody) : { code: "UNKNOWN", message: "its answer is none of a provisioning service" };
}

async function collect(response: IncomingMessage): Promise<Answer> {
  let text = "";
  response.setEncoding("utf8");
  try {
    for await (const part of response) {
      text += part;
      if (text.length > MOST_ANSWER) throw new TrawlerError("TRAWLER_LIMIT", "the service's answer is too large");
    }
  } catch (error) {
    if (errorCode(error)?.startsWith("TRAWLER_")) throw error;
    throw new TrawlerError("TRAWLER_UNAVAILABLE", `the service's answer was cut off: ${errorMessage(error)}`);
  }
  const wait = Number(response.headers["retry-after"]);
  return {
    status: response.statusCode ?? 0,
    body: parse(text),
    retryAfter: Number.isFinite(wait) && wait >= 0 ? wait : null,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreachable(url: URL, error: Error): TrawlerError {
  const code = errorCode(error) ?? "";
  // Codes of OpenSSL's verification, and Node's own of the name.
  if (/CERT|SIGNATURE|ERR_TLS|ERR_SSL/.test(code)) {
    const mend = "name who may sign its certificate by --ca, and the address that is in it by --server";
    return new TrawlerError("TRAWLER_DENIED", `${url.origin} is not trusted (${code}): ${mend}`);
  }
  return new TrawlerError("TRAWLER_UNAVAILABLE", `cannot reach ${url.origin}: ${code || error.message}`);
}
