import { readFile } from "node:fs/promises";
import { createRequire, findPackageJSON } from "node:module";
import { pathToFileURL } from "node:url";
import { API_VERSION, errorMessage, type Plugin, type PluginKind, TrawlerError } from "@trawler/plugin-api";

/** One line of a package's manifest, `trawler.plugins` in its package.json. */
export interface ManifestEntry {
  readonly kind: PluginKind;
  readonly name: string;
  readonly entry: string;
  readonly stability: string;
}

export interface LoadedPlugin extends ManifestEntry {
  readonly package: string;
  readonly version: string;
  /** URL of the module whose default export it is. */
  readonly module: string;
  readonly plugin: Plugin;
}

export interface LoadOptions {
  /** File beside which the package is installed: the configuration file. */
  readonly from: string;
  /** Plugins that are there already, as `kind/name`: a second of the same name is refused. */
  readonly taken?: ReadonlySet<string>;
  /** Milliseconds that the import may take. */
  readonly timeout?: number;
}

const KINDS: readonly string[] = ["environment", "mode", "crawler", "emitter"] satisfies PluginKind[];
const METHODS: readonly string[] = ["create"];

/**
 * Loads all plugins of a package that the configuration names. The manifest is read before any of its code runs.
 * Throws TRAWLER_PLUGIN_INVALID with one sentence that names the package, what was expected and what was found.
 */
export async function loadPackage(name: string, options: LoadOptions): Promise<readonly LoadedPlugin[]> {
  const { entries, version } = await readManifest(name, options.from);
  const taken = new Set(options.taken);
  for (const { kind, name: plugin } of entries) {
    if (taken.has(`${kind}/${plugin}`))
      throw invalid(`${name} brings ${kind} ${plugin}, of which there is one already`);
    taken.add(`${kind}/${plugin}`);
  }
  return Promise.all(
    entries.map(async (entry) => {
      const { url, module } = await importEntry(name, entry, options);
      return { ...entry, package: name, version, module: url, plugin: checkShape(name, entry, module) };
    }),
  );
}

async function readManifest(
  name: string,
  from: string,
): Promise<{ readonly entries: readonly ManifestEntry[]; readonly version: string }> {
  const path = findManifest(name, from);
  let manifest: unknown;
  try {
    manifest = JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    throw invalid(`${name}: its package.json cannot be read`, cause);
  }
  const { trawler, version } = fields(manifest);
  const { plugins } = fields(trawler);
  if (!Array.isArray(plugins) || plugins.length === 0) {
    throw invalid(`${name} is no plugin: its package.json has no "trawler": { "plugins": [...] }`);
  }
  return { entries: plugins.map((entry) => parseEntry(name, entry)), version: String(version ?? "unknown") };
}

function parseEntry(name: string, raw: unknown): ManifestEntry {
  const { kind, name: plugin, entry = ".", stability = "alpha" } = fields(raw);
  if (!isKind(kind))
    throw invalid(`${name}: a plugin's kind must be one of ${KINDS.join(", ")}, found ${String(kind)}`);
  if (typeof plugin !== "string" || !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(plugin)) {
    throw invalid(`${name}: a plugin's name must be kebab-case, found ${String(plugin)}`);
  }
  if (typeof entry !== "string" || !/^\.(\/|$)/.test(entry)) {
    throw invalid(`${name}: the entry of ${kind} ${plugin} must begin with ".", found ${String(entry)}`);
  }
  return { kind, name: plugin, entry, stability: String(stability) };
}

function findManifest(name: string, from: string): string {
  let cause: unknown;
  try {
    const path = findPackageJSON(name, pathToFileURL(from));
    if (path) return path;
  } catch (error) {
    cause = error;
  }
  throw invalid(`${name} is not installed next to ${from}`, cause);
}

async function importEntry(
  name: string,
  { entry }: ManifestEntry,
  options: LoadOptions,
): Promise<{ readonly url: string; readonly module: unknown }> {
  const { from, timeout = 10_000 } = options;
  const cut = Promise.withResolvers<never>();
  const timer = setTimeout(() => cut.reject(invalid(`${name} took longer than ${timeout} ms to load`)), timeout);
  try {
    // Not import.meta.resolve: it ignores the file that it is told to resolve from.
    const url = pathToFileURL(createRequire(from).resolve(name + entry.slice(1))).href;
    return { url, module: await Promise.race([import(url), cut.promise]) };
  } catch (cause) {
    if (fields(cause)["code"] === "TRAWLER_PLUGIN_INVALID") throw cause;
    throw invalid(`${name} cannot be loaded: ${errorMessage(cause)}`, cause);
  } finally {
    clearTimeout(timer);
  }
}

/** The default export, once it has been seen to be of this contract and of the kind and name that the manifest says. */
function checkShape(name: string, { kind, name: plugin }: ManifestEntry, module: unknown): Plugin {
  const found = fields(module)["default"];
  const { api, kind: itsKind, name: itsName, config } = fields(found);
  if (api !== API_VERSION) {
    throw invalid(`${name} speaks plugin contract ${String(api)}; this host speaks ${API_VERSION}`);
  }
  if (itsKind !== kind || itsName !== plugin) {
    throw invalid(`${name}: its manifest says ${kind} ${plugin}, its code ${String(itsKind)} ${String(itsName)}`);
  }
  if (!isPlugin(found)) throw invalid(`${name}: ${kind} ${plugin} lacks ${METHODS.join(", ")}`);
  if (fields(config)["~standard"] === undefined) {
    throw invalid(`${name}: config of ${kind} ${plugin} is no Standard Schema (zod 4 makes one)`);
  }
  return found;
}

function isPlugin(value: unknown): value is Plugin {
  const found = fields(value);
  return METHODS.every((method) => typeof found[method] === "function");
}

function isKind(value: unknown): value is PluginKind {
  return typeof value === "string" && KINDS.includes(value);
}

/** Not a copy: a schema's own members may be inherited or hidden from a spread. */
function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function invalid(message: string, cause?: unknown): TrawlerError {
  return new TrawlerError("TRAWLER_PLUGIN_INVALID", message, { cause });
}
