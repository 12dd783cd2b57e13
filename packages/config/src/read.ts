import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errorMessage, type Plugin, type PluginKind } from "@trawler/plugin-api";
import { Checker } from "./check.ts";
import { composeSchema, hostKeysOf, SECTIONS } from "./compose.ts";
import { type Document, MAX_FILE_BYTES, parseDocumentText } from "./document.ts";
import { type Fault, faultsError } from "./fault.ts";
import { besideSettings, type HostSettings, hostSettings } from "./host-settings.ts";
import { applyOverrides } from "./override.ts";
import type { Path } from "./path.ts";
import type { PluginName } from "./plugin-name.ts";
import {
  type Configuration,
  type PipelineSettings,
  type PluginSettings,
  pipelineOf,
  pluginSettings,
} from "./settings.ts";
import { type Sources, substitute } from "./substitute.ts";
import { emptyMap, isMap, member, type ValueMap } from "./value.ts";

/** Where plugins come from; loading is left to whoever composes the program. */
export interface Catalogue {
  known(): readonly PluginName[];
  /** Throws a coded error where the plugin can't be loaded. */
  load(kind: PluginKind, name: string): Promise<Plugin>;
  /** Makes the plugins of a third party's package known, as seen from the configuration file `from`. */
  install(packageName: string, from: string): Promise<void>;
}

export interface ReadOptions {
  /** Null = no file: the defaults and the overrides. */
  readonly file: string | null;
  /** The file's text where it is at hand already. */
  readonly text?: string;
  /** `path=value`, in order. */
  readonly overrides?: readonly string[];
  readonly catalogue: Catalogue;
  readonly env: Sources["env"];
  readonly readFile?: Sources["readFile"];
}

/**
 * Reads, overrides, substitutes, validates. Throws one TRAWLER_CONFIG_INVALID that lists every fault, one a line:
 * `FILE:LINE:COLUMN: KEY: what was found, what is expected; how to mend it`. No secret stands in it.
 */
export async function readConfiguration(options: ReadOptions): Promise<Configuration> {
  const document = openDocument(options);
  if (document.faults.length > 0) throw faultsError(document.faults);
  applyOverrides(document, options.overrides ?? []);
  const folder = options.file === null ? process.cwd() : dirname(resolve(options.file));
  const readFile = options.readFile ?? readTextFile;
  const substituted = substitute(document, {
    env: options.env,
    readFile: (path, maxBytes) => readFile(resolve(folder, path), maxBytes),
  });
  await installPackages(document, options);
  const plugins = await loadNamed(document, options.catalogue);
  const schema = composeSchema([...plugins.values()], options.catalogue.known());
  const checker = new Checker(document, schema, substituted);
  const value = checker.shape();
  const host = await hostSettings["~standard"].validate(value);
  if (host.issues) checker.issues(host.issues, [], value);
  const parts = await validateParts(value, plugins, checker);
  if (host.issues || document.faults.length > 0) throw faultsError(document.faults);
  return configurationOf(options.file, host.value, parts);
}

function configurationOf(file: string | null, host: HostSettings, parts: ReadonlyMap<string, Parts>): Configuration {
  const pipelines: PipelineSettings[] = Object.entries(host.pipelines).map(([id, pipeline]) =>
    pipelineOf(id, pipeline, parts.get(id) ?? new Map()),
  );
  const { pipelines: _, plugins: __, ...rest } = host;
  return { file, ...rest, pipelines };
}

/** The document that a file or a text holds; a file that cannot be read is a fault of it. */
export function openDocument({
  file,
  text,
  readFile = readTextFile,
}: Pick<ReadOptions, "file" | "text" | "readFile">): Document {
  if (text !== undefined) return parseDocumentText(text, file ?? "configuration");
  if (file === null) return parseDocumentText("", "defaults");
  try {
    return parseDocumentText(readFile(file, MAX_FILE_BYTES), file);
  } catch (error) {
    const document = parseDocumentText("", file);
    const place = { file, line: 0, column: 0 };
    const code = codeOf(error);
    document.faults.push({
      place,
      path: [],
      found: `the file cannot be read (${code})`,
      expected: "",
      mend:
        code === "EFBIG"
          ? `it is larger than ${MAX_FILE_BYTES} bytes: keep only the configuration in it`
          : "name an existing file that this user may read with --config or TRAWLER_CONFIG",
    });
    return document;
  }
}

async function installPackages(document: Document, { catalogue, file }: ReadOptions): Promise<void> {
  const value = member(document.root, "plugins");
  const names =
    typeof value === "string" ? value.split(",").map((name) => name.trim()) : Array.isArray(value) ? value : [];
  for (const [index, name] of names.slice(0, 64).entries()) {
    if (typeof name !== "string" || name === "") continue;
    try {
      await catalogue.install(name, resolve(file ?? "trawl.yaml"));
    } catch (error) {
      const path: Path = Array.isArray(value) ? ["plugins", index] : ["plugins"];
      document.faults.push(loadFault(document, path, `plugin package ${name} cannot be loaded`, error));
    }
  }
}

/** Loads each plugin that the file names, once. What is unknown is left for the check to report. */
async function loadNamed(document: Document, catalogue: Catalogue): Promise<Map<string, Plugin>> {
  const plugins = new Map<string, Plugin>();
  const failed = new Set<string>();
  for (const { kind, name, path } of instancesIn(document.root)) {
    const key = `${kind}.${name}`;
    if (plugins.has(key) || failed.has(key)) continue;
    if (!catalogue.known().some((known) => known.kind === kind && known.name === name)) continue;
    try {
      plugins.set(key, await catalogue.load(kind, name));
    } catch (error) {
      failed.add(key);
      const found = errorMessage(error);
      document.faults.push({
        place: document.places.key(path),
        path,
        found,
        expected: "",
        mend: "repair its package, or remove it",
      });
    }
  }
  return plugins;
}

function loadFault(document: Document, path: Path, found: string, error: unknown): Fault {
  const mend = "install it next to the configuration file, or remove it";
  return { place: document.places.value(path), path, found: `${found}: ${errorMessage(error)}`, expected: "", mend };
}

type Parts = Map<PluginKind, readonly PluginSettings[] | null>;

async function validateParts(
  root: ValueMap,
  plugins: ReadonlyMap<string, Plugin>,
  checker: Checker,
): Promise<Map<string, Parts>> {
  const result = new Map<string, Parts>();
  const pipelines = member(root, "pipelines");
  for (const id of isMap(pipelines) ? Object.keys(pipelines) : []) {
    const parts: Parts = new Map();
    result.set(id, parts);
    for (const [section, kind] of SECTIONS) {
      const instances = member(member(pipelines, id), section);
      if (!isMap(instances)) continue;
      const settings: PluginSettings[] = [];
      for (const key of Object.keys(instances)) {
        const plugin = plugins.get(`${kind}.${nameOf(key)}`);
        const one = plugin ? await validateOne(plugin, ["pipelines", id, section, key], instances[key], checker) : null;
        if (one) settings.push(one);
      }
      checker.count(kind, ["pipelines", id, section]);
      parts.set(kind, settings);
    }
  }
  return result;
}

async function validateOne(
  plugin: Plugin,
  path: Path,
  value: unknown,
  checker: Checker,
): Promise<PluginSettings | null> {
  const own = emptyMap();
  const beside = emptyMap();
  const hostKeys = hostKeysOf(plugin);
  if (isMap(value))
    for (const [key, child] of Object.entries(value)) (hostKeys.includes(key) ? beside : own)[key] = child;
  const host = besideSettings(plugin.kind).safeParse(beside);
  if (!host.success) checker.issues(host.error.issues, path, beside);
  const config = isMap(value) ? own : value;
  const result = await plugin.config["~standard"].validate(config);
  if (result.issues) checker.issues(result.issues, path, config);
  if (!host.success || result.issues) return null;
  return pluginSettings(String(path.at(-1)), plugin, result.value, host.data, true);
}

function* instancesIn(root: ValueMap): Generator<{ kind: PluginKind; name: string; path: Path }> {
  const pipelines = member(root, "pipelines");
  for (const id of isMap(pipelines) ? Object.keys(pipelines) : []) {
    for (const [section, kind] of SECTIONS) {
      const instances = member(member(pipelines, id), section);
      for (const key of isMap(instances) ? Object.keys(instances) : []) {
        yield { kind, name: nameOf(key), path: ["pipelines", id, section, key] };
      }
    }
  }
}

function nameOf(key: string): string {
  return key.split("/")[0] ?? key;
}

/** Reads a regular file up to a bound; throws Node's errors, EFBIG beyond the bound and EINVAL for no regular file. */
export function readTextFile(path: string, maxBytes: number): string {
  // Non-blocking, so that a FIFO without a writer can't hold the start.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = fstatSync(descriptor);
    if (status.isDirectory()) throw coded("EISDIR");
    if (!status.isFile()) throw coded("EINVAL");
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, length);
    }
    if (length > maxBytes) throw coded("EFBIG");
    return bytes.toString("utf8", 0, length);
  } finally {
    closeSync(descriptor);
  }
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : errorMessage(error);
}
