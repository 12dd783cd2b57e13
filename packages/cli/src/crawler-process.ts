import { serveProcess } from "@trawler/engine";
import { confine } from "@trawler/linux";
import { type CrawlerPlugin, TrawlerError } from "@trawler/plugin-api";
import { BUILT_IN } from "./built-in.ts";
import { keepSmall } from "./footprint.ts";

// The entry of the process in which crawlers of files run: what parses the files of a container has no secret, no
// capability, no network and no file but its own program.

await confine();
keepSmall();
serveProcess(async (name): Promise<CrawlerPlugin> => {
  const plugin = (await BUILT_IN.find((one) => one.kind === "crawler" && one.name === name)?.load())?.default;
  if (plugin?.kind !== "crawler") throw new TrawlerError("TRAWLER_PLUGIN_INVALID", `there is no crawler ${name}`);
  return plugin;
});
