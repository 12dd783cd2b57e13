import { type Catalogue, nearest, type PluginName } from "@trawler/config";
import { type LoadedPlugin, type LoadOptions, loadPackage } from "@trawler/engine";
import { errorMessage, type Plugin, type PluginKind, TrawlerError } from "@trawler/plugin-api";
import { BUILT_IN, type BuiltIn } from "./built-in.ts";

export interface CatalogueEntry extends PluginName {
  readonly stability: string;
  readonly package: string;
  readonly builtIn: boolean;
}

/** All plugins that are known: the built-in ones by their names, those of third parties once their package is loaded. */
export class PluginCatalogue implements Catalogue {
  readonly #loadPackage: typeof loadPackage;
  readonly #builtIn: readonly BuiltIn[];
  readonly #packaged: LoadedPlugin[] = [];

  constructor(builtIn: readonly BuiltIn[] = BUILT_IN, load: typeof loadPackage = loadPackage) {
    this.#builtIn = builtIn;
    this.#loadPackage = load;
  }

  known(): readonly CatalogueEntry[] {
    return [
      ...this.#builtIn.map(({ kind, name, description, stability, package: from }) => ({
        kind,
        name,
        description,
        stability,
        package: from,
        builtIn: true,
      })),
      ...this.#packaged.map(({ package: from, stability, plugin: { kind, name, description } }) => ({
        kind,
        name,
        description,
        stability,
        package: from,
        builtIn: false,
      })),
    ];
  }

  builtInNames(kind: PluginKind): readonly string[] {
    return this.#builtIn.filter((plugin) => plugin.kind === kind).map(({ name }) => name);
  }

  /** URL of a packaged plugin's code; null for a built-in one. */
  module(kind: PluginKind, name: string): string | null {
    return this.#packaged.find(({ plugin }) => plugin.kind === kind && plugin.name === name)?.module ?? null;
  }

  async load(kind: PluginKind, name: string): Promise<Plugin> {
    const packaged = this.#packaged.find(({ plugin }) => plugin.kind === kind && plugin.name === name);
    if (packaged) return packaged.plugin;
    const builtIn = this.#builtIn.find((plugin) => plugin.kind === kind && plugin.name === name);
    if (builtIn) return loadBuiltIn(builtIn);
    const names = this.known()
      .filter((plugin) => plugin.kind === kind)
      .map((plugin) => plugin.name);
    const near = nearest(name, names);
    throw new TrawlerError(
      "TRAWLER_CONFIG_INVALID",
      `unknown ${kind} ${name}, expected one of ${names.join(", ")}${near === null ? "" : `; did you mean ${near}?`}`,
    );
  }

  async install(packageName: string, from: string): Promise<void> {
    const taken = new Set(this.known().map(({ kind, name }) => `${kind}/${name}`));
    const options: LoadOptions = { from, taken };
    this.#packaged.push(...(await this.#loadPackage(packageName, options)));
  }
}

async function loadBuiltIn(builtIn: BuiltIn): Promise<Plugin> {
  try {
    return (await builtIn.load()).default;
  } catch (cause) {
    const { kind, name, package: from } = builtIn;
    throw new TrawlerError(
      "TRAWLER_PLUGIN_INVALID",
      `${kind} ${name} of ${from} cannot be loaded: ${errorMessage(cause)}`,
      { cause },
    );
  }
}
