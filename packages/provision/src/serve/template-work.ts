import { Worker } from "node:worker_threads";
import { errorCode, TrawlerError } from "@trawler/plugin-api";
import { Refusal } from "./refusal.ts";
import type { Answered, Asked, JobKind, TemplateJobs } from "./template-thread.ts";

export interface TemplateWorkOptions {
  /** Templates that are worked on at a time. */
  readonly threads?: number;
  /** Requests that wait for that; more are told to come again. */
  readonly waiting?: number;
  /** Milliseconds that one template may take. */
  readonly timeout?: number;
}

interface Job {
  readonly asked: Asked;
  readonly resolve: (answer: TemplateJobs[JobKind]["answer"]) => void;
  readonly reject: (error: unknown) => void;
}

const HEAP_MEGABYTES = 512;

/**
 * Reads templates in threads of their own: a large one, or one that was made to be slow, holds up neither the other
 * requests nor the runs. Threads are started when they are needed, and ended where one takes too long or too much.
 */
export class TemplateWork implements AsyncDisposable {
  readonly #threads: number;
  readonly #waiting: number;
  readonly #timeout: number;
  readonly #queue: Job[] = [];
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  #stopped = false;

  constructor({ threads = 2, waiting = 32, timeout = 30_000 }: TemplateWorkOptions = {}) {
    this.#threads = threads;
    this.#waiting = waiting;
    this.#timeout = timeout;
  }

  /** Throws a Refusal: 429 where too many wait, 422 where the template takes too long or too much memory. */
  async run<K extends JobKind>(kind: K, asked: TemplateJobs[K]["asked"]): Promise<TemplateJobs[K]["answer"]> {
    if (this.#stopped) throw stopping();
    if (this.#queue.length >= this.#waiting) {
      const message = "too many templates wait to be read; try again later";
      throw new Refusal(429, { code: "TRAWLER_LIMIT", message }, 2);
    }
    const { promise, resolve, reject } = Promise.withResolvers<TemplateJobs[K]["answer"]>();
    this.#queue.push({ asked: { kind, asked } as Asked, resolve: resolve as Job["resolve"], reject });
    this.#next();
    return await promise;
  }

  #next(): void {
    while (!this.#stopped) {
      if (this.#queue.length === 0 || (this.#idle.length === 0 && this.#all.size >= this.#threads)) return;
      const job = this.#queue.shift();
      if (job === undefined) return;
      this.#perform(this.#idle.pop() ?? this.#start(), job);
    }
  }

  #start(): Worker {
    const source = import.meta.url.endsWith(".ts");
    const thread = new Worker(new URL(`template-thread${source ? ".ts" : ".js"}`, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
      execArgv: ["--disable-warning=ExperimentalWarning", ...(source ? ["--conditions=@trawler/source"] : [])],
    });
    this.#all.add(thread);
    // Whoever waits for its answer hears of it too; one that is idle only goes.
    thread.on("error", () => this.#end(thread));
    thread.on("exit", () => this.#end(thread));
    return thread;
  }

  #end(thread: Worker): void {
    this.#all.delete(thread);
    const place = this.#idle.indexOf(thread);
    if (place >= 0) this.#idle.splice(place, 1);
    void thread.terminate();
    this.#next();
  }

  #perform(thread: Worker, { asked, resolve, reject }: Job): void {
    const over = (): void => {
      clearTimeout(timer);
      thread.off("message", answered).off("error", failed).off("exit", gone);
    };
    const answered = (message: Answered): void => {
      over();
      if ("answer" in message) resolve(message.answer);
      else reject(new TrawlerError("TRAWLER_PLUGIN_FAILED", message.failed));
      if (this.#all.has(thread)) this.#idle.push(thread);
      this.#next();
    };
    const failed = (error: unknown): void => {
      over();
      const full = errorCode(error) === "ERR_WORKER_OUT_OF_MEMORY";
      reject(full ? tooLarge("it takes too much memory to read it") : error);
    };
    const gone = (): void => {
      over();
      reject(stopping());
    };
    const timer = setTimeout(() => {
      over();
      reject(tooLarge(`it takes more than ${this.#timeout / 1000} s to read it`));
      this.#end(thread);
    }, this.#timeout);
    thread.on("message", answered).on("error", failed).on("exit", gone);
    thread.postMessage(asked);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    for (const { reject } of this.#queue.splice(0)) reject(stopping());
    await Promise.all([...this.#all].map((thread) => thread.terminate()));
  }
}

function tooLarge(why: string): Refusal {
  return new Refusal(422, { code: "TRAWLER_LIMIT", message: `the template is refused: ${why}` });
}

function stopping(): TrawlerError {
  return new TrawlerError("TRAWLER_UNAVAILABLE", "the service is stopping");
}
