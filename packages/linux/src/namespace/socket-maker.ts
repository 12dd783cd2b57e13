import { Worker } from "node:worker_threads";
import { TrawlerError } from "@trawler/plugin-api";
import { SystemError } from "../ffi/libc.ts";
import { closeQuietly } from "../files/descriptor.ts";
import type { SocketReply, SocketRequest } from "./protocol.ts";

interface Pending {
  readonly resolve: (descriptor: number) => void;
  readonly reject: (error: Error) => void;
  readonly watchdog: NodeJS.Timeout;
}

/** Milliseconds without an answer after which the thread is taken for stuck and replaced. */
const STUCK = 30_000;
/** Milliseconds that disposing waits for answers, so that no descriptor in flight is lost. */
const DRAIN = 2_000;

/** The namespace thread as its users see it: started when first asked, replaced when it died, ended by disposing. */
export class SocketMaker implements AsyncDisposable {
  readonly #entry: URL;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #drained: (() => void) | undefined;
  #next = 1;
  #closed = false;

  constructor(entry: URL) {
    this.#entry = entry;
  }

  /**
   * An unconnected socket inside the namespace; the caller closes it. `namespace` must stay open until then.
   * Throws SystemError with errno's code, or `signal`'s reason; a socket that comes too late is closed here.
   */
  make(namespace: number, domain: number, signal: AbortSignal): Promise<number> {
    if (this.#closed) return Promise.reject(new TrawlerError("TRAWLER_GONE", "the connector was closed"));
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const id = this.#next++;
    const worker = this.#start();
    let abandoned = false;
    const abandon = (): void => {
      abandoned = true;
      reject(signal.reason instanceof Error ? signal.reason : new SystemError("ETIMEDOUT"));
    };
    if (signal.aborted) abandon();
    signal.addEventListener("abort", abandon, { once: true });
    const settle = (): void => signal.removeEventListener("abort", abandon);
    const watchdog = setTimeout(() => void worker.terminate(), STUCK).unref();
    this.#pending.set(id, {
      watchdog,
      resolve(descriptor) {
        settle();
        if (abandoned) closeQuietly(descriptor);
        else resolve(descriptor);
      },
      reject(error) {
        settle();
        reject(error);
      },
    });
    worker.postMessage({ id, namespace, domain } satisfies SocketRequest);
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    if (this.#pending.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#drained = resolve;
      const timer = setTimeout(resolve, DRAIN);
      await promise;
      clearTimeout(timer);
    }
    await worker.terminate();
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    // The environment holds secrets that this thread does not need.
    const worker = new Worker(this.#entry, {
      name: "trawler-namespace",
      env: {},
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
    });
    worker.unref();
    worker.on("message", (reply: SocketReply) => this.#answer(reply));
    worker.on("error", (error: Error) => this.#died(worker, error));
    worker.on("exit", () => this.#died(worker, new SystemError("EPIPE")));
    this.#worker = worker;
    return worker;
  }

  #answer(reply: SocketReply): void {
    const pending = this.#take(reply.id);
    if ("code" in reply) pending?.reject(new SystemError(reply.code));
    else if (pending === undefined) closeQuietly(reply.descriptor);
    else pending.resolve(reply.descriptor);
  }

  #died(worker: Worker, cause: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const error = new TrawlerError("TRAWLER_RETRY", "the namespace thread ended; the next call starts another", {
      cause,
    });
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(error);
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    clearTimeout(pending?.watchdog);
    if (this.#pending.size === 0) this.#drained?.();
    return pending;
  }
}
