import type { PluginSettings } from "@trawler/config";
import { IsolatedCrawler } from "@trawler/engine";
import { type CrawlerPlugin, TrawlerError } from "@trawler/plugin-api";

/**
 * Gives a crawler that is to run in a thread of its own a `create` that starts one. `module` = URL of a packaged
 * plugin's code, null for a built-in one. Throws TRAWLER_CONFIG_INVALID where the settings ask for what can't be.
 */
export function isolate(settings: PluginSettings<CrawlerPlugin>, module: string | null): PluginSettings<CrawlerPlugin> {
  const { id, plugin, isolation } = settings;
  const connects = plugin.needs.includes("net");
  if (isolation === "worker" && (module === null || connects)) {
    const why = connects
      ? "it connects to applications, and a connection can't cross to another thread"
      : "a built-in plugin runs in the agent's own thread";
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `crawler ${id}: isolation can't be worker: ${why}; remove it`);
  }
  if (module === null || connects || isolation === "inline") return settings;
  return {
    ...settings,
    isolation: "worker",
    plugin: { ...plugin, create: (config, host) => IsolatedCrawler.start({ module, config, host }) },
  };
}
