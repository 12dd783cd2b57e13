import {
  type Access,
  type Capability,
  type Clock,
  type Crawler,
  type CrawlerPlugin,
  errorCode,
  errorMessage,
  type Logger,
  TrawlerError,
} from "@trawler/plugin-api";
import { shortFingerprint } from "../fingerprint.ts";
import { type CrossedError, type FromThread, type ThreadData, type ToThread, WINDOW } from "./protocol.ts";
import { RemoteAccess } from "./remote-access.ts";

/** The way to the host. */
export interface ServerPort {
  send(message: FromThread): void;
  /** Called once, when the crawler is there. */
  listen(receive: (message: ToThread) => void): unknown;
}

interface Call {
  readonly abort: AbortController;
  readonly remote: RemoteAccess;
  /** Features sent that the host has not taken yet. */
  ahead: number;
  wake: (() => void) | null;
}

/** Serves one crawler, which has no access of its own: what it reads it asks the host for. */
export async function serveCrawler(
  data: ThreadData,
  load: () => Promise<CrawlerPlugin>,
  port: ServerPort,
): Promise<void> {
  const send = (message: FromThread): void => port.send(message);
  const clock: Clock = {
    now: () => Date.now(),
    monotonic: () => Number(process.hrtime.bigint()) / 1e9 + data.monotonicOffset,
  };
  const log = logger(send);
  const closing = new AbortController();
  const calls = new Map<number, Call>();
  let crawler: Crawler & Partial<AsyncDisposable>;
  try {
    const plugin = await load();
    crawler = await plugin.create(data.config, { id: data.id, log, clock, node: data.node, signal: closing.signal });
  } catch (error) {
    send({ type: "unready", error: crossed(error) });
    return;
  }
  port.listen((message) => {
    switch (message.type) {
      case "call": {
        const call: Call = {
          abort: new AbortController(),
          remote: new RemoteAccess(message.call, send),
          ahead: 0,
          wake: null,
        };
        calls.set(message.call, call);
        void run(crawler, message, call, { send, clock, log }).finally(() => calls.delete(message.call));
        return;
      }
      case "abort":
        calls.get(message.call)?.abort.abort(new TrawlerError("TRAWLER_PLUGIN_TIMEOUT", "the host ended the call"));
        return;
      case "taken": {
        const call = calls.get(message.call);
        if (call === undefined) return;
        call.ahead -= message.count;
        call.wake?.();
        return;
      }
      case "dispose":
        closing.abort();
        void Promise.resolve(crawler[Symbol.asyncDispose]?.())
          .catch((error: unknown) => log.warn({}, `closing failed: ${errorMessage(error)}`))
          .then(() => send({ type: "disposed" }));
        return;
      default:
        for (const { remote } of calls.values()) remote.settle(message);
    }
  });
  send({ type: "ready" });
}

async function run(
  crawler: Crawler,
  message: Extract<ToThread, { type: "call" }>,
  call: Call,
  { send, clock, log }: { readonly send: (message: FromThread) => void; readonly clock: Clock; readonly log: Logger },
): Promise<void> {
  const { call: id, asked, annotation, meta, fingerprint } = message;
  const state = new Map(message.state);
  const { signal } = call.abort;
  let error: CrossedError | null = null;
  let said: string | null = null;
  try {
    const access = call.remote.access(message.needs, meta) as Pick<Access, Capability>;
    const features = crawler.crawl(access, {
      signal,
      log,
      clock,
      state,
      fingerprint,
      unchanged: (text) => {
        said = text;
        return shortFingerprint(text) === fingerprint;
      },
      asked,
      annotation,
      problem: (code, text) => send({ type: "problem", call: id, code, message: text }),
    });
    for await (const feature of features) {
      signal.throwIfAborted();
      send({ type: "feature", call: id, feature });
      call.ahead += 1;
      while (call.ahead >= WINDOW && !signal.aborted) await taken(call);
    }
  } catch (cause) {
    error = crossed(cause);
  }
  send({ type: "end", call: id, state: [...state], fingerprint: said, error });
}

function taken(call: Call): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  call.wake = resolve;
  call.abort.signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

function logger(send: (message: FromThread) => void): Logger {
  const at =
    (level: "debug" | "info" | "warn" | "error") =>
    (fields: object, message: string): void => {
      try {
        send({ type: "log", level, fields, message });
      } catch {
        // Fields that are no plain data: the line itself must not be lost.
        send({ type: "log", level, fields: {}, message });
      }
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function crossed(error: unknown): CrossedError {
  const code = errorCode(error);
  return {
    code: code?.startsWith("TRAWLER_") === true ? code : "TRAWLER_PLUGIN_FAILED",
    message: errorMessage(error).slice(0, 2_000),
  };
}
