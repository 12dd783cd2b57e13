import { sleep } from "@trawler/kube";
import type { Logger } from "@trawler/plugin-api";
import type { ServiceStore, Undelivered } from "../serve/store.ts";
import type { Notifier } from "./notifier.ts";

export interface DeliverOptions {
  readonly store: ServiceStore;
  readonly notifiers: readonly Notifier[];
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** 0 up to 1. */
  readonly random?: () => number;
  /** Milliseconds of the first pause and of the longest. */
  readonly pauses?: readonly [first: number, longest: number];
  /** Attempts before a notification is given up. */
  readonly attempts?: number;
}

/** Twice as long after each attempt up to five minutes, half of it by chance: given up after about three hours. */
const PAUSES = [1_000, 300_000] as const;
const ATTEMPTS = 56;
/** Milliseconds after which the outbox is looked at in any case. */
const LOOK = 60_000;

/** Sends what the outbox holds until it is taken: each receiver in its own order, one not waiting for another. */
export class Deliverer {
  readonly #options: DeliverOptions;
  #waker = new AbortController();

  constructor(options: DeliverOptions) {
    this.#options = options;
  }

  /** There is something new. */
  wake(): void {
    this.#waker.abort();
    this.#waker = new AbortController();
  }

  /** Until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, notifiers, log } = this.#options;
    const forgotten = store.keepTargets(notifiers.map(({ name }) => name));
    if (forgotten > 0)
      log.warn({ notifications: forgotten }, "notifications for receivers that are no longer set are dropped");
    await Promise.all(notifiers.map((notifier) => this.#serve(notifier, signal)));
  }

  async #serve(notifier: Notifier, signal: AbortSignal): Promise<void> {
    const { store, now } = this.#options;
    while (!signal.aborted) {
      const waker = this.#waker.signal;
      const next = store.firstDue(notifier.name);
      const wait = next === null ? LOOK : next.due - now();
      if (next !== null && wait <= 0) await this.#attempt(notifier, next, signal);
      else await sleep(Math.min(wait, LOOK), AbortSignal.any([signal, waker]));
    }
  }

  async #attempt(notifier: Notifier, next: Undelivered, signal: AbortSignal): Promise<void> {
    const { store, log, now, attempts: most = ATTEMPTS } = this.#options;
    const { id, instance, attempts } = next;
    const delivery = await notifier.send(next, signal);
    // Cut off: not known whether it was taken, so it is sent again.
    if (signal.aborted && !delivery.ok) return;
    if (delivery.ok) return store.delivered(id, notifier.name);
    const fields = { notification: id, instance, to: notifier.name, attempt: attempts + 1, reason: delivery.why };
    if (attempts + 1 >= most) {
      store.giveUp(id, notifier.name);
      log.error(fields, "a notification is given up");
      return;
    }
    const pause = Math.max(this.#pause(attempts), delivery.retryAfter ?? 0);
    store.postpone(id, notifier.name, now() + pause);
    log.warn({ ...fields, again: Math.round(pause / 1000) }, "a notification was not taken");
  }

  #pause(attempts: number): number {
    const { random = Math.random, pauses: [first, longest] = PAUSES } = this.#options;
    return Math.min(first * 2 ** Math.min(attempts, 20), longest) * (0.5 + random() / 2);
  }
}
