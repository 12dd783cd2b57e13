import {
  type Access,
  type CrawlContext,
  type Crawler,
  type ErrorCode,
  type Feature,
  type PluginHost,
  TrawlerError,
} from "@trawler/plugin-api";
import type { Carrier, Carry } from "./carrier.ts";
import { LocalAccess } from "./local-access.ts";
import { type CrossedError, type FromThread, type ThreadData, WINDOW } from "./protocol.ts";
import { carryByThread } from "./thread-carrier.ts";

/** Milliseconds that a thread has to answer once a call's deadline has passed, before it is taken for stuck. */
const GRACE = 1_000;
const CREATION = 30_000;
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;

export interface IsolationOptions {
  /** URL of the module whose default export is the plugin; in a process, the name of a built-in one. */
  readonly module: string;
  /** As its schema gave it. */
  readonly config: unknown;
  readonly host: PluginHost;
  /** Where it runs; default: in a thread of its own. */
  readonly carry?: Carry;
}

interface OpenCall {
  readonly access: LocalAccess;
  readonly features: Feature[];
  readonly context: CrawlContext;
  /** What ended it; undefined while it runs. */
  ended: { readonly error: CrossedError | null } | undefined;
  wake: (() => void) | null;
}

/** One life of the other side. */
interface Thread {
  readonly carrier: Carrier;
  readonly ready: Promise<void>;
}

/**
 * A crawler in a thread or process. What it reads it asks the host for, under the same rules; one that spins, leaks or
 * ends its process costs its own calls: the thread is ended and the next call starts another, later each time.
 */
export class IsolatedCrawler implements Crawler, AsyncDisposable {
  readonly #options: IsolationOptions;
  readonly #calls: Map<number, OpenCall> = new Map();
  #thread: Thread | null = null;
  #last = 0;
  #failures = 0;
  #restAt = 0;
  #disposed: (() => void) | null = null;

  private constructor(options: IsolationOptions) {
    this.#options = options;
  }

  /** Throws what the plugin's `create` threw, or TRAWLER_PLUGIN_TIMEOUT. */
  static async start(options: IsolationOptions): Promise<IsolatedCrawler> {
    const crawler = new IsolatedCrawler(options);
    await crawler.#alive();
    return crawler;
  }

  async *crawl(access: Partial<Access>, context: CrawlContext): AsyncGenerator<Feature> {
    const thread = await this.#alive();
    context.signal.throwIfAborted();
    const id = ++this.#last;
    const { fs, proc, cgroup, meta } = access;
    const call: OpenCall = {
      access: new LocalAccess({ ...(fs && { fs }), ...(proc && { proc }), ...(cgroup && { cgroup }) }, context.signal),
      features: [],
      context,
      ended: undefined,
      wake: null,
    };
    this.#calls.set(id, call);
    let stuck: NodeJS.Timeout | undefined;
    const abort = (): void => {
      thread.carrier.send({ type: "abort", call: id });
      stuck = setTimeout(() => this.#fell(thread, `${this.#options.host.id} did not end its call in time`), GRACE);
    };
    context.signal.addEventListener("abort", abort, { once: true });
    try {
      const { asked, annotation, state, fingerprint } = context;
      const needs = ["fs", "proc", "cgroup", "meta"] as const;
      thread.carrier.send({
        type: "call",
        call: id,
        needs: needs.filter((need) => access[need] !== undefined),
        meta: meta ?? null,
        state: [...state],
        fingerprint,
        asked,
        annotation,
      });
      let taken = 0;
      for (;;) {
        const feature = call.features.shift();
        if (feature !== undefined) {
          yield feature;
          taken += 1;
          if (taken % (WINDOW / 2) === 0) thread.carrier.send({ type: "taken", call: id, count: WINDOW / 2 });
        } else if (call.ended) {
          if (call.ended.error) throw uncrossed(call.ended.error);
          return;
        } else {
          await new Promise<void>((resolve) => {
            call.wake = resolve;
          });
        }
      }
    } finally {
      context.signal.removeEventListener("abort", abort);
      // The host has heard enough before the crawler had said all.
      if (!call.ended && !context.signal.aborted) abort();
      if (!call.ended) await new Promise<void>((resolve) => this.#onEnd(call, resolve));
      clearTimeout(stuck);
      call.access.close();
      this.#calls.delete(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const thread = this.#thread;
    if (thread === null) return;
    const over = Promise.withResolvers<void>();
    this.#disposed = over.resolve;
    const timer = setTimeout(over.resolve, GRACE);
    thread.carrier.send({ type: "dispose" });
    await over.promise;
    clearTimeout(timer);
    this.#thread = null;
    await thread.carrier.terminate();
  }

  #onEnd(call: OpenCall, then: () => void): void {
    call.wake = () => (call.ended ? then() : undefined);
    call.wake();
  }

  async #alive(): Promise<Thread> {
    if (this.#thread === null) {
      const { clock, id } = this.#options.host;
      const rest = this.#restAt - clock.monotonic();
      if (rest > 0) {
        throw new TrawlerError("TRAWLER_PLUGIN_FAILED", `${id} rests ${Math.ceil(rest)} s: its thread ended before`);
      }
      this.#thread = this.#start();
    }
    const thread = this.#thread;
    await thread.ready;
    return thread;
  }

  #start(): Thread {
    const { module, config, host, carry = carryByThread } = this.#options;
    const data: ThreadData = {
      module,
      id: host.id,
      config,
      node: host.node,
      monotonicOffset: host.clock.monotonic() - Number(process.hrtime.bigint()) / 1e9,
    };
    const ready = Promise.withResolvers<void>();
    const late = new TrawlerError("TRAWLER_PLUGIN_TIMEOUT", `it did not start within ${CREATION / 1000} s`);
    const timer = setTimeout(() => ready.reject(late), CREATION);
    const carrier = carry(
      data,
      {
        message: (message) => {
          if (message.type === "ready") {
            this.#failures = Math.max(0, this.#failures - 1);
            ready.resolve();
          } else if (message.type === "unready") ready.reject(uncrossed(message.error));
          else this.#heard(thread, message);
        },
        ended: (why) => {
          const because = why ?? `the process of ${host.id} was ended; the next call starts another`;
          ready.reject(new TrawlerError(why === null ? "TRAWLER_RETRY" : "TRAWLER_PLUGIN_FAILED", because));
          if (why === null) this.#drop(thread, { code: "TRAWLER_RETRY", message: because });
          else this.#fell(thread, why);
        },
      },
      host.log,
    );
    const thread: Thread = { carrier, ready: ready.promise.finally(() => clearTimeout(timer)) };
    thread.ready.catch(() => this.#fell(thread, `${host.id} could not start`));
    return thread;
  }

  #heard(thread: Thread, message: Exclude<FromThread, { readonly type: "ready" | "unready" }>): void {
    if (message.type === "log") {
      this.#options.host.log[message.level](message.fields, message.message);
      return;
    }
    if (message.type === "disposed") {
      this.#disposed?.();
      return;
    }
    const call = this.#calls.get(message.call);
    if (call === undefined) return;
    switch (message.type) {
      case "feature":
        call.features.push(message.feature);
        break;
      case "problem": {
        const { code } = message;
        if (code === "denied" || code === "truncated" || code === "failed" || code === "unavailable") {
          call.context.problem(code, message.message);
        }
        return;
      }
      case "end":
        for (const [key, value] of message.state) call.context.state.set(key, value);
        if (message.fingerprint !== null) call.context.unchanged(message.fingerprint);
        call.ended = { error: message.error };
        break;
      default:
        void call.access.answer(message).then((answer) => thread.carrier.send(answer));
        return;
    }
    call.wake?.();
  }

  /** Ends a thread, and with it all its calls; the next call starts another, after a rest that doubles. */
  #fell(thread: Thread, why: string): void {
    if (this.#thread !== thread) return;
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(this.#failures, 10)) * (0.5 + Math.random() / 2);
    this.#failures += 1;
    this.#restAt = this.#options.host.clock.monotonic() + pause / 1000;
    this.#options.host.log.warn({ code: "TRAWLER_PLUGIN_FAILED", restSeconds: Math.round(pause / 1000) }, why);
    this.#drop(thread, { code: "TRAWLER_PLUGIN_FAILED", message: why });
    thread.carrier.terminate().catch(() => undefined);
  }

  #drop(thread: Thread, error: CrossedError): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    this.#disposed?.();
    for (const call of this.#calls.values()) {
      call.ended ??= { error };
      call.wake?.();
    }
  }
}

function uncrossed({ code, message }: CrossedError): Error {
  // It came from a TrawlerError, or was given a code of ours when it crossed.
  return new TrawlerError(code as ErrorCode, message);
}
