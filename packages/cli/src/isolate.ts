import type { PluginSettings } from "@trawler/config";
import { CrawlerProcess, IsolatedCrawler } from "@trawler/engine";
import { type CrawlerPlugin, type Logger, TrawlerError } from "@trawler/plugin-api";

type Isolation = NonNullable<PluginSettings["isolation"]>;

/**
 * Gives a crawler that is not to run in the agent's own thread a `create` that starts it where it runs. `module` = URL
 * of a packaged plugin's code, null for a built-in one. Throws TRAWLER_CONFIG_INVALID where the settings ask for what
 * can't be.
 */
export function isolate(
  settings: PluginSettings<CrawlerPlugin>,
  module: string | null,
  process: CrawlerProcess,
): PluginSettings<CrawlerPlugin> {
  const { id, plugin, isolation = usual(settings.plugin, module) } = settings;
  const why = obstacle(isolation, plugin, module);
  if (why !== null) {
    throw new TrawlerError(
      "TRAWLER_CONFIG_INVALID",
      `crawler ${id}: isolation can't be ${isolation}: ${why}; remove it`,
    );
  }
  if (isolation === "inline") return settings;
  const where = isolation === "process" ? { module: plugin.name, carry: process.carry } : { module: module ?? "" };
  return {
    ...settings,
    isolation,
    plugin: { ...plugin, create: (config, host) => IsolatedCrawler.start({ ...where, config, host }) },
  };
}

/** What parses whole files and databases of containers does so away from the agent's secrets, built-in or not. */
function usual({ needs, onChange }: CrawlerPlugin, module: string | null): Isolation {
  if (needs.includes("net")) return "inline";
  if (module !== null) return "worker";
  return onChange === true && needs.includes("fs") ? "process" : "inline";
}

function obstacle(isolation: Isolation, { needs }: CrawlerPlugin, module: string | null): string | null {
  if (isolation === "inline") return null;
  if (needs.includes("net")) return "it connects to applications, and a connection can't cross";
  if (isolation === "worker" && module === null) return "a built-in plugin runs in the agent's own thread or a process";
  if (isolation === "process" && module !== null) return "a package's plugin runs in a thread";
  return null;
}

/** The one process of this agent for crawlers that read files; it is started by the first of them. */
export function crawlerProcess(log: Logger): CrawlerProcess {
  const entry = new URL(`./crawler-process${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
  return new CrawlerProcess({ entry, log });
}
