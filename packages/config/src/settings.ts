import { type Plugin, type PluginKind, TrawlerError } from "@trawler/plugin-api";
import { type BesideSettings, besideSettings, type HostSettings, type PipelineText } from "./host-settings.ts";
import { parseDuration, parseSize } from "./units.ts";

/** One configured plugin: its own settings validated, the host's beside them taken out. */
export interface PluginSettings<P extends Plugin = Plugin> {
  /** Key in the file: `kafka/main`, `redis`. */
  readonly id: string;
  readonly plugin: P;
  /** What `create` is given. */
  readonly config: unknown;
  /** Seconds; absent = each frame. */
  readonly every?: number;
  /** Seconds; absent = the crawler's own. */
  readonly refresh?: number;
  /** Milliseconds; absent = the pipeline's. */
  readonly timeout?: number;
  readonly onStartError: "fail" | "retry" | "skip";
  /** Absent = the default of where the plugin comes from. */
  readonly isolation?: "inline" | "worker" | "process";
  /** The user wrote it, as against a default. */
  readonly named: boolean;
}

/** One pipeline; null = the user left it to the defaults. */
export interface PipelineSettings {
  readonly id: string;
  readonly environment: PluginSettings | null;
  readonly mode: PluginSettings | null;
  readonly crawlers: readonly PluginSettings[] | null;
  readonly emitters: readonly PluginSettings[] | null;
  /** Seconds. */
  readonly every: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly concurrency: number;
  readonly queue: { readonly bytes: number; readonly frames: number };
}

/** A whole configuration, valid, with every default filled in that needs no look at the machine. */
export interface Configuration {
  /** Null where there is no file. */
  readonly file: string | null;
  readonly cluster: HostSettings["cluster"];
  readonly node: HostSettings["node"];
  readonly attributes: HostSettings["attributes"];
  readonly host: HostSettings["host"];
  readonly http: HostSettings["http"];
  readonly state: HostSettings["state"];
  readonly log: HostSettings["log"];
  readonly pipelines: readonly PipelineSettings[];
}

/** Settings of a plugin that nobody configured. Throws TRAWLER_CONFIG_INVALID where it can't run without. */
export async function defaultSettings(plugin: Plugin): Promise<PluginSettings> {
  const result = await plugin.config["~standard"].validate({});
  if (result.issues) {
    const [issue] = result.issues;
    throw new TrawlerError(
      "TRAWLER_CONFIG_INVALID",
      `${plugin.kind} ${plugin.name} needs settings: ${issue?.message ?? ""}; write a configuration file that holds them`,
    );
  }
  return pluginSettings(plugin.name, plugin, result.value, besideSettings(plugin.kind).parse({}), false);
}

export function pluginSettings(
  id: string,
  plugin: Plugin,
  config: unknown,
  beside: BesideSettings,
  named: boolean,
): PluginSettings {
  const every = beside.every === undefined ? null : parseDuration(beside.every);
  const refresh = beside.refresh === undefined ? null : parseDuration(beside.refresh);
  const timeout = beside.timeout === undefined ? null : parseDuration(beside.timeout);
  return {
    id,
    plugin,
    config,
    ...(every === null ? {} : { every: every / 1000 }),
    ...(refresh === null ? {} : { refresh: refresh / 1000 }),
    ...(timeout === null ? {} : { timeout }),
    onStartError: beside.onStartError,
    ...(beside.isolation === undefined ? {} : { isolation: beside.isolation }),
    named,
  };
}

export function pipelineOf(
  id: string,
  host: PipelineText,
  parts: ReadonlyMap<PluginKind, readonly PluginSettings[] | null>,
): PipelineSettings {
  return {
    id,
    environment: parts.get("environment")?.[0] ?? null,
    mode: parts.get("mode")?.[0] ?? null,
    crawlers: parts.get("crawler") ?? null,
    emitters: parts.get("emitter") ?? null,
    every: (parseDuration(host.every) ?? 0) / 1000,
    timeout: parseDuration(host.timeout) ?? 0,
    concurrency: host.concurrency,
    queue: { bytes: parseSize(host.queue.bytes) ?? 0, frames: host.queue.frames },
  };
}
