import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";

/**
 * Runs the calls into one plugin. Each ends by its deadline; one that ignores its signal is abandoned and counted, and
 * nothing is called under its key again until it has returned. Beyond `maxStuck` abandoned calls the whole plugin rests.
 */
export class Guard {
  readonly #plugin: string;
  readonly #maxStuck: number;
  readonly #abandoned: Set<string> = new Set();

  constructor(plugin: string, maxStuck = 32) {
    this.#plugin = plugin;
    this.#maxStuck = maxStuck;
  }

  /** Calls that were abandoned and still run. */
  get stuck(): number {
    return this.#abandoned.size;
  }

  /**
   * Calls `run` with a signal that aborts after `ms` or with `parent`. Throws the call's own coded error,
   * TRAWLER_PLUGIN_FAILED for any other throw, TRAWLER_PLUGIN_TIMEOUT, TRAWLER_PLUGIN_STUCK, or the parent's reason.
   */
  async call<T>(key: string, ms: number, parent: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    parent.throwIfAborted();
    if (this.#abandoned.has(key) || this.#abandoned.size >= this.#maxStuck) {
      throw new TrawlerError("TRAWLER_PLUGIN_STUCK", `${this.#plugin} has not returned from an earlier call`);
    }
    // One controller and one timer that is cleared: AbortSignal.any and .timeout keep both alive (nodejs/node#54614).
    const controller = new AbortController();
    const cut = Promise.withResolvers<never>();
    const stop = (reason: unknown): void => {
      controller.abort(reason);
      cut.reject(reason);
    };
    const onParent = (): void => stop(parent.reason);
    parent.addEventListener("abort", onParent, { once: true });
    const late = (): void =>
      stop(new TrawlerError("TRAWLER_PLUGIN_TIMEOUT", `${this.#plugin} took longer than ${ms} ms`));
    const timer = setTimeout(late, ms);
    let returned = false;
    const call = (async (): Promise<T> => run(controller.signal))().finally(() => {
      returned = true;
    });
    try {
      return await Promise.race([call, cut.promise]);
    } catch (cause) {
      if (!controller.signal.aborted) throw typed(this.#plugin, cause);
      if (!returned) this.#abandon(key, call);
      throw controller.signal.reason;
    } finally {
      clearTimeout(timer);
      parent.removeEventListener("abort", onParent);
    }
  }

  #abandon(key: string, call: Promise<unknown>): void {
    this.#abandoned.add(key);
    const forget = (): void => {
      this.#abandoned.delete(key);
    };
    call.then(forget, forget);
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
