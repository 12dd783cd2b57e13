import { setImmediate as nextTurn } from "node:timers/promises";
import { sleep } from "@trawler/kube";
import { type Clock, errorCode, errorMessage, type Logger } from "@trawler/plugin-api";
import type { JournalFolder } from "../journal/folder.ts";
import { purge } from "../journal/purge.ts";
import type { ServiceStore } from "./store.ts";
import type { Worker } from "./worker.ts";

export interface RetentionOptions {
  readonly folder: JournalFolder;
  readonly store: ServiceStore;
  readonly worker: Pick<Worker, "has">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds for which runs that have nothing in the cluster, and notifications that were given up, are kept. */
  readonly keep: number;
  /** Milliseconds between two steps. */
  readonly every?: number;
}

/** Runs that one step looks at. */
const STEP = 100;
const EVERY = 60_000;

/** Forgets what need not be remembered, a step at a time until the signal aborts. Never rejects. */
export async function retain(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { folder, store, worker, clock, log, keep, every = EVERY } = options;
  const busy = (instance: string): boolean => worker.has(instance);
  for (let after = ""; !signal.aborted; await sleep(every, signal)) {
    const before = clock.now() - keep;
    try {
      let [looked, purged] = [0, 0];
      for (const step of purge(folder, { before, after, limit: STEP, busy })) {
        after = step.instance;
        looked++;
        if (step.purged !== null) purged++;
        // One at a time: the others get their turn in between.
        await nextTurn();
        if (signal.aborted) return;
      }
      if (looked < STEP) after = "";
      const notifications = store.forgetGivenUp(before);
      if (purged > 0 || notifications > 0) log.info({ runs: purged, notifications }, "forgotten, as runs.keep says");
    } catch (error) {
      log.warn({ code: errorCode(error) ?? "UNKNOWN" }, `old runs cannot be forgotten: ${errorMessage(error)}`);
    }
  }
}
