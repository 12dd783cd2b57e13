import { sleep } from "@trawler/kube";

/** Milliseconds before the next try: doubles from 200 up to 5,000, with jitter. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  return Math.min(200 * 2 ** Math.min(attempt - 1, 10), 5_000) * (0.5 + random() / 2);
}

/** Holds back all requests of a run together when the server asks one of them to wait. */
export class Pace {
  #until = 0;
  readonly #now: () => number;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  hold(milliseconds: number): void {
    this.#until = Math.max(this.#until, this.#now() + milliseconds);
  }

  /** Resolves when requests may be sent, or when `signal` aborts. */
  async ready(signal: AbortSignal): Promise<void> {
    for (let wait = this.#until - this.#now(); wait > 0 && !signal.aborted; wait = this.#until - this.#now()) {
      await sleep(wait, signal);
    }
  }
}
