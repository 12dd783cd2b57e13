import { composeSchema, type JsonSchema } from "@trawler/config";
import { frameJsonSchema, type Plugin } from "@trawler/plugin-api";
import type { PluginCatalogue } from "../catalogue.ts";
import type { World } from "../world.ts";
import { type CommonOptions, load } from "./common.ts";

/** `trawl schema`: one of the published JSON Schemas, from the code that runs. */
export async function schema(
  what: "config" | "frame" | "features",
  options: CommonOptions,
  world: World,
): Promise<number> {
  const { catalogue } = await load(options, world);
  const value =
    what === "frame"
      ? frameJsonSchema()
      : what === "config"
        ? await configSchema(catalogue)
        : await features(catalogue);
  await world.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  return 0;
}

/** The schema of the whole file, with all plugins that are known. */
export async function configSchema(catalogue: PluginCatalogue): Promise<JsonSchema> {
  return composeSchema(await everyPlugin(catalogue));
}

async function features(catalogue: PluginCatalogue): Promise<Readonly<Record<string, unknown>>> {
  const plugins = await everyPlugin(catalogue);
  return Object.fromEntries(
    plugins.flatMap((plugin) =>
      plugin.kind === "crawler"
        ? Object.entries(plugin.features).map(([type, feature]) => [
            type,
            { title: type, ...feature["~standard"].jsonSchema.output({ target: "draft-2020-12" }) },
          ])
        : [],
    ),
  );
}

/** All plugins that are known, loaded. */
export async function everyPlugin(catalogue: PluginCatalogue): Promise<readonly Plugin[]> {
  return Promise.all(catalogue.known().map(({ kind, name }) => catalogue.load(kind, name)));
}
