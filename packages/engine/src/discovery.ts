import {
  type CallContext,
  type Environment,
  errorCode,
  errorMessage,
  type Logger,
  type WorkloadEvent,
} from "@trawler/plugin-api";
import { typed } from "./guard.ts";
import { aborted, Backoff, delay, settled } from "./wait.ts";

const FIRST_RETRY = 500;
const LAST_RETRY = 30_000;
/** A discovery that held this long was good: the next failure starts with a short wait again. */
const GOOD_AFTER = 60_000;
/** What a new attempt cannot mend. */
const FATAL: ReadonlySet<string> = new Set(["TRAWLER_CONFIG_INVALID", "TRAWLER_PLUGIN_INVALID", "TRAWLER_PLATFORM"]);

export interface DiscoveryOptions {
  readonly environment: Environment;
  readonly id: string;
  readonly log: Logger;
  readonly onEvent: (event: WorkloadEvent) => void;
  /** A new attempt begins: all that exists is reported anew. */
  readonly onBegin: () => void;
}

/**
 * Follows an environment until `signal` aborts, starting it again with growing waits where it fails. Throws what a new
 * attempt cannot mend. Resolves also where the environment ended by itself: then nothing can change.
 */
export async function discover(options: DiscoveryOptions, signal: AbortSignal): Promise<void> {
  const { id, log, onBegin } = options;
  const backoff = new Backoff(FIRST_RETRY, LAST_RETRY);
  while (!signal.aborted) {
    const began = performance.now();
    try {
      onBegin();
      await follow(options, signal);
      return;
    } catch (cause) {
      if (signal.aborted) return;
      const error = typed(`environment ${id}`, cause);
      if (FATAL.has(errorCode(error) ?? "")) throw error;
      if (performance.now() - began > GOOD_AFTER) backoff.reset();
      const wait = backoff.next();
      log.warn(
        { environment: id, code: errorCode(error), wait },
        `discovery failed and is tried again: ${errorMessage(error)}`,
      );
      await delay(wait, signal);
    }
  }
}

async function follow({ environment, log, onEvent }: DiscoveryOptions, signal: AbortSignal): Promise<void> {
  const context: CallContext = { signal, log };
  const events = environment.discover(context)[Symbol.asyncIterator]();
  const stop = aborted(signal);
  try {
    for (;;) {
      // An environment that ignores its signal is left behind at a stop, not waited for.
      const next = await Promise.race([events.next(), stop.promise]);
      if (next.done) return;
      onEvent(next.value);
    }
  } finally {
    stop.dispose();
    if (events.return) await settled((async () => events.return?.())(), 1000);
  }
}
