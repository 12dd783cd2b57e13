import { setImmediate } from "node:timers/promises";
import { TrawlerError } from "@trawler/plugin-api";
import { gone, shown } from "./errors.ts";

/** Milliseconds that reading holds the thread before others get their turn. */
export const SLICE = 8;

/** What bounds one call in time: the caller's signal, the end of the access, and a limit on its own working time. */
export class Budget {
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;
  readonly #closed: AbortSignal;
  readonly #limit: number;
  #spent = 0;
  #since: number = performance.now();
  /** When others had their turn last; a consumer that takes batches quickly is no turn. */
  #turned: number = this.#since;

  /** `limit` in milliseconds. */
  constructor(path: string, closed: AbortSignal, limit: number, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#closed = closed;
    this.#limit = limit;
    this.#signal = signal;
    this.check();
  }

  /** Call between steps: throws when the call must end, and lets others run when its slice is used up. */
  async turn(): Promise<void> {
    if (performance.now() - this.#turned < SLICE) return;
    this.pause();
    this.check();
    await setImmediate();
    this.resume();
    this.#turned = this.#since;
    this.check();
  }

  /** Time from here to `resume` is the consumer's. */
  pause(): void {
    this.#spent += performance.now() - this.#since;
  }

  resume(): void {
    this.#since = performance.now();
  }

  check(): void {
    if (this.#closed.aborted) throw gone(this.#path);
    if (this.#signal?.aborted === true || this.#spent > this.#limit) {
      throw new TrawlerError("TRAWLER_PLUGIN_TIMEOUT", `${shown(this.#path)}: reading was stopped at its deadline`);
    }
  }
}
