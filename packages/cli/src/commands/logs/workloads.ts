import { setTimeout as delay } from "node:timers/promises";
import { type Environment, errorCode, errorMessage, type Logger, type Workload } from "@trawler/plugin-api";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;

/** What an environment says that there is now. */
export interface Workloads {
  /** Whether a first list has been complete. */
  readonly synced: boolean;
  all(): Iterable<Workload>;
  /** Resolves at a change, after so many milliseconds, or at the stop. */
  changed(milliseconds: number): Promise<void>;
}

/** Follows an environment until the signal aborts. While it cannot be followed, the last that it said stands. */
export function followWorkloads(
  environment: Environment,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
): Workloads {
  let known = new Map<string, Workload>();
  let synced = false;
  let news = Promise.withResolvers<void>();
  let dirty = false;
  const tell = (): void => {
    dirty = true;
    news.resolve();
  };
  const follow = async (): Promise<void> => {
    // A new list replaces the old one when it is complete: till then what it lacks may be still to come.
    const fresh = new Map<string, Workload>();
    let complete = false;
    for await (const event of environment.discover({ signal, log })) {
      if (event.type === "synced") {
        complete = true;
        synced = true;
        known = fresh;
      } else if (event.type === "removed") fresh.delete(event.workload.id);
      else fresh.set(event.workload.id, event.workload);
      if (complete) tell();
    }
  };
  const keepFollowing = async (): Promise<void> => {
    for (let attempt = 0; !signal.aborted; attempt++) {
      const began = performance.now();
      try {
        await follow();
      } catch (error) {
        if (!signal.aborted) log.warn({ code: errorCode(error) ?? "UNKNOWN" }, errorMessage(error));
      }
      if (performance.now() - began > LONGEST_PAUSE) attempt = 0;
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2);
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  };
  void keepFollowing();
  return {
    get synced() {
      return synced;
    },
    all: () => known.values(),
    async changed(milliseconds) {
      const waited = new AbortController();
      if (!dirty) {
        await Promise.race([
          news.promise,
          delay(milliseconds, undefined, { signal: AbortSignal.any([signal, waited.signal]) }).catch(() => undefined),
        ]);
      }
      waited.abort();
      dirty = false;
      news = Promise.withResolvers();
      // Events come in bursts: one pass for each.
      await delay(BURST, undefined, { signal }).catch(() => undefined);
    },
  };
}

const BURST = 50;
