import { setTimeout as delay } from "node:timers/promises";
import type { PluginSettings } from "@trawler/config";
import type { Instance } from "@trawler/engine";
import {
  type ErrorCode,
  errorCode,
  errorMessage,
  type Plugin,
  type PluginHost,
  TrawlerError,
} from "@trawler/plugin-api";

/** Milliseconds that one `create` may take. */
const CREATION = 30_000;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;

export type InstanceOf<P extends Plugin> = Awaited<ReturnType<P["create"]>>;

/**
 * Makes the instance of a plugin as `onStartError` says: null = it is left out (`skip`). With `retry` what may work
 * later (TRAWLER_RETRY, TRAWLER_UNAVAILABLE) is tried again until `stop` aborts, at most `attempts` times.
 */
export async function startPlugin<P extends Plugin>(
  { id, plugin, config, onStartError }: PluginSettings<P>,
  host: PluginHost,
  { stop, attempts = Number.POSITIVE_INFINITY }: { readonly stop: AbortSignal; readonly attempts?: number | undefined },
): Promise<Instance<P, InstanceOf<P>> | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return { id, plugin, instance: await withDeadline(create(plugin, config, host), stop) };
    } catch (error) {
      const failure = describe(plugin, id, error);
      if (stop.aborted) throw failure;
      if (onStartError === "skip") {
        host.log.warn({ code: failure.code }, `${failure.message}; it is left out`);
        return null;
      }
      if (onStartError === "fail" || !isRetryable(error) || attempt >= attempts) throw failure;
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2);
      host.log.warn({ code: failure.code, retryInSeconds: Math.round(pause / 1000) }, failure.message);
      await delay(pause, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}

/** The kinds create different things; which one is known by the plugin that is given. */
async function create<P extends Plugin>(plugin: P, config: unknown, host: PluginHost): Promise<InstanceOf<P>> {
  return (await plugin.create(config, host)) as InstanceOf<P>;
}

async function withDeadline<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const cut = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => cut.reject(new TrawlerError("TRAWLER_PLUGIN_TIMEOUT", `it did not start within ${CREATION / 1000} s`)),
    CREATION,
  );
  const abort = (): void => cut.reject(new TrawlerError("TRAWLER_GONE", "the agent stops"));
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, cut.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** Codes that say more than that a plugin failed. */
const TELLING: readonly ErrorCode[] = [
  "TRAWLER_CONFIG_INVALID",
  "TRAWLER_PLUGIN_TIMEOUT",
  "TRAWLER_UNAVAILABLE",
  "TRAWLER_DENIED",
  "TRAWLER_BUSY",
  "TRAWLER_PLATFORM",
];

function describe(plugin: Plugin, id: string, error: unknown): TrawlerError {
  const code =
    TELLING.find((known) => known === errorCode(error)) ??
    (isRetryable(error) ? "TRAWLER_UNAVAILABLE" : "TRAWLER_PLUGIN_FAILED");
  return new TrawlerError(code, `${plugin.kind} ${id} cannot start: ${errorMessage(error)}`, { cause: error });
}

function isRetryable(error: unknown): boolean {
  return ["TRAWLER_RETRY", "TRAWLER_UNAVAILABLE"].includes(errorCode(error) ?? "");
}
