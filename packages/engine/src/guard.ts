import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";

/** What a guarded call sees of its end. */
export interface Deadline {
  /** Aborts when the call has to end; made when it is first asked for, as most calls have no use for it. */
  readonly signal: AbortSignal;
  throwIfAborted(): void;
}

/**
 * Runs the calls into one plugin. Each ends by its deadline; one that ignores its signal is abandoned and counted, and
 * nothing is called under its key again until it has returned. Beyond `maxStuck` abandoned calls the whole plugin rests.
 */
export class Guard {
  readonly #plugin: string;
  readonly #maxStuck: number;
  readonly #abandoned: Set<string> = new Set();
  readonly #running: Set<Call> = new Set();
  /** Calls by the signal that ends them all: one listener serves them, for as long as the signal lives. */
  readonly #parents: WeakMap<AbortSignal, Set<Call>> = new WeakMap();
  /** One timer for all calls, set for the earliest. It keeps the process alive only while one of them runs. */
  #timer: NodeJS.Timeout | undefined;
  #timerAt = 0;

  constructor(plugin: string, maxStuck = 32) {
    this.#plugin = plugin;
    this.#maxStuck = maxStuck;
  }

  /** Calls that were abandoned and still run. */
  get stuck(): number {
    return this.#abandoned.size;
  }

  /** As `enter`, for a call that takes its signal at once. */
  call<T>(key: string, ms: number, parent: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.enter(key, ms, parent, ({ signal }) => run(signal));
  }

  /**
   * Calls `run` with a deadline that comes after `ms` or with `parent`. Throws the call's own coded error,
   * TRAWLER_PLUGIN_FAILED for any other throw, TRAWLER_PLUGIN_TIMEOUT, TRAWLER_PLUGIN_STUCK, or the parent's reason.
   */
  enter<T>(key: string, ms: number, parent: AbortSignal, run: (deadline: Deadline) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      parent.throwIfAborted();
      if (this.#abandoned.has(key) || this.#abandoned.size >= this.#maxStuck) {
        throw new TrawlerError("TRAWLER_PLUGIN_STUCK", `${this.#plugin} has not returned from an earlier call`);
      }
      const call = new Call(key, ms, this.#siblings(parent), reject);
      this.#begin(call);
      start(run, call).then(
        (value) => {
          this.#end(call);
          resolve(value);
        },
        (cause: unknown) => {
          this.#end(call);
          if (!call.aborted) reject(typed(this.#plugin, cause));
        },
      );
    });
  }

  #begin(call: Call): void {
    this.#running.add(call);
    call.siblings.add(call);
    if (this.#timer !== undefined && this.#timerAt <= call.at) {
      if (this.#running.size === 1) this.#timer.ref();
      return;
    }
    clearTimeout(this.#timer);
    this.#wake(call.at, call.ms);
  }

  #end(call: Call): void {
    call.returned = true;
    call.siblings.delete(call);
    this.#running.delete(call);
    if (this.#running.size === 0) this.#timer?.unref();
    if (this.#abandoned.size > 0 && call.abandoned) this.#abandoned.delete(call.key);
  }

  #wake(at: number, ms: number): void {
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#sweep(), ms);
  }

  /** Ends what is late, and waits for the next. */
  #sweep(): void {
    this.#timer = undefined;
    const now = performance.now();
    let next: Call | undefined;
    for (const call of this.#running) {
      // A timer may be early by a part of a millisecond.
      if (call.at <= now + 1) {
        const late = `${this.#plugin} took longer than ${call.ms} ms`;
        this.#stop(call, new TrawlerError("TRAWLER_PLUGIN_TIMEOUT", late));
      } else if (next === undefined || call.at < next.at) next = call;
    }
    if (next !== undefined) this.#wake(next.at, Math.ceil(next.at - now));
  }

  #siblings(parent: AbortSignal): Set<Call> {
    const known = this.#parents.get(parent);
    if (known !== undefined) return known;
    const calls = new Set<Call>();
    this.#parents.set(parent, calls);
    const stop = (): void => {
      for (const call of [...calls]) this.#stop(call, parent.reason);
    };
    parent.addEventListener("abort", stop, { once: true });
    return calls;
  }

  /** Tells the call to end, and ends the wait for it. */
  #stop(call: Call, reason: unknown): void {
    this.#running.delete(call);
    call.siblings.delete(call);
    call.abort(reason);
    void this.#leave(call, reason);
  }

  /** One that follows its signal at once has returned by then. */
  async #leave(call: Call, reason: unknown): Promise<void> {
    for (let turn = 0; turn < TURNS && !call.returned; turn++) await undefined;
    if (!call.returned) {
      call.abandoned = true;
      this.#abandoned.add(call.key);
    }
    call.reject(reason);
  }
}

/** Microtasks from the abort of a signal to the end of a call that waits for nothing else. */
const TURNS = 8;

/** A throw before the first wait is a rejection like any other. */
async function start<T>(run: (deadline: Deadline) => Promise<T>, deadline: Deadline): Promise<T> {
  return run(deadline);
}

/** One call that runs. */
class Call implements Deadline {
  readonly key: string;
  readonly ms: number;
  /** When it has to end, by `performance.now()`. */
  readonly at: number;
  readonly siblings: Set<Call>;
  readonly reject: (reason: unknown) => void;
  returned = false;
  aborted = false;
  abandoned = false;
  #reason: unknown;
  #controller: AbortController | undefined;

  constructor(key: string, ms: number, siblings: Set<Call>, reject: (reason: unknown) => void) {
    this.key = key;
    this.ms = ms;
    this.at = performance.now() + ms;
    this.siblings = siblings;
    this.reject = reject;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.#reason;
  }

  abort(reason: unknown): void {
    this.aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/** The error itself where it has a code of ours, else one that wraps it. Never throws, whatever was thrown. */
export function typed(plugin: string, cause: unknown): Error {
  try {
    if (cause instanceof Error && errorCode(cause)?.startsWith("TRAWLER_")) return cause;
    return new TrawlerError("TRAWLER_PLUGIN_FAILED", `${plugin}: ${errorMessage(cause)}`, { cause });
  } catch {
    return new TrawlerError("TRAWLER_PLUGIN_FAILED", `${plugin} threw something that cannot be read`);
  }
}
