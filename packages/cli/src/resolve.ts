import { type Configuration, defaultSettings, type PipelineSettings, type PluginSettings } from "@trawler/config";
import { type CrawlerProcess, checkPlan } from "@trawler/engine";
import {
  type CrawlerPlugin,
  type EmitterPlugin,
  type EnvironmentPlugin,
  errorMessage,
  type ModePlugin,
  type Plugin,
  type PluginHost,
  type PluginKind,
  parseDuration,
  TrawlerError,
} from "@trawler/plugin-api";
import type { PluginCatalogue } from "./catalogue.ts";
import { crawlerProcess, isolate } from "./isolate.ts";

/** What the look for an environment found. */
interface Detection {
  readonly name: string;
  readonly found: boolean;
  readonly detail: string;
}

/** A pipeline with nothing left to choose. */
export interface ResolvedPipeline extends Omit<PipelineSettings, "environment" | "mode" | "crawlers" | "emitters"> {
  readonly environment: PluginSettings<EnvironmentPlugin>;
  readonly mode: PluginSettings<ModePlugin>;
  readonly crawlers: readonly PluginSettings<CrawlerPlugin>[];
  readonly emitters: readonly PluginSettings<EmitterPlugin>[];
  /** What was looked for where no environment is named. */
  readonly detections: readonly Detection[];
  /** Built-in crawlers left out because this mode can't serve them, and why. */
  readonly left: readonly string[];
}

/** Choices of the command line that replace those of the file. */
interface Choices {
  readonly environment?: string;
  readonly mode?: string;
  readonly crawlers?: readonly string[];
  readonly emitter?: PluginSettings<EmitterPlugin>;
}

export interface ResolveOptions {
  readonly catalogue: PluginCatalogue;
  readonly choices?: Choices;
  readonly signal: AbortSignal;
  /** Looks whether a named environment is there, too; the answer is told and changes nothing. */
  readonly look?: boolean;
  /** The host for the look at an environment. */
  readonly host: (id: string, signal: AbortSignal) => PluginHost;
}

/** Milliseconds that the look for one environment may take. */
const DETECTION = 5_000;

/** Fills in what a file leaves open, by a look at the machine; throws TRAWLER_CONFIG_INVALID where the parts don't fit. */
export async function resolvePipelines(
  configuration: Configuration,
  options: ResolveOptions,
): Promise<readonly ResolvedPipeline[]> {
  const resolved: ResolvedPipeline[] = [];
  const files = crawlerProcess(options.host("crawler-process", options.signal).log);
  for (const pipeline of configuration.pipelines) resolved.push(await resolveOne(pipeline, options, files));
  return resolved;
}

async function resolveOne(
  settings: PipelineSettings,
  options: ResolveOptions,
  files: CrawlerProcess,
): Promise<ResolvedPipeline> {
  const { catalogue, choices = {} } = options;
  const detections: Detection[] = [];
  const environment = await chooseEnvironment(settings, options, detections);
  if (options.look === true && detections.length === 0) {
    detections.push(await detect(environment, options.host, options.signal));
  }
  const mode = await chooseMode(settings, environment.plugin, options);
  const fixed = await chooseCrawlers(settings, options);
  const left: string[] = [];
  const crawlers =
    fixed ??
    (await allOf(catalogue, "crawler", isCrawler)).filter(({ plugin }) => {
      // What reads whole files and databases runs where it is named.
      if (plugin.onChange === true) return false;
      const [fault] = checkPlan(environment.plugin, mode.plugin, [plugin]).filter((text) =>
        text.startsWith("crawler "),
      );
      if (fault !== undefined) left.push(fault);
      return fault === undefined;
    });
  const emitters = choices.emitter
    ? [choices.emitter]
    : (settings.emitters?.filter(holds(isEmitter)) ?? [await byDefault(catalogue, "emitter", "stdout", isEmitter)]);
  const faults = [
    ...checkPlan(
      environment.plugin,
      mode.plugin,
      crawlers.map(({ plugin }) => plugin),
    ),
    ...(crawlers.length === 0 ? ["no crawler is named"] : []),
    ...(emitters.length === 0 ? ["no emitter is named"] : []),
  ];
  if (faults.length > 0) {
    throw new TrawlerError(
      "TRAWLER_CONFIG_INVALID",
      faults
        .map((fault) => `pipeline ${settings.id}: ${fault}; choose parts that fit, or leave them to the defaults`)
        .join("\n"),
    );
  }
  const placed = crawlers.map((one) => isolate(paced(one), catalogue.module("crawler", one.plugin.name), files));
  return { ...settings, environment, mode, crawlers: placed, emitters, detections, left };
}

/** A crawler that is costly each time has a pace of its own where the settings say none. */
function paced(settings: PluginSettings<CrawlerPlugin>): PluginSettings<CrawlerPlugin> {
  const usual = parseDuration(settings.plugin.every ?? "");
  return settings.every !== undefined || usual === null ? settings : { ...settings, every: usual / 1000 };
}

async function chooseEnvironment(
  settings: PipelineSettings,
  { catalogue, choices = {}, host, signal }: ResolveOptions,
  detections: Detection[],
): Promise<PluginSettings<EnvironmentPlugin>> {
  const given = settings.environment;
  if (choices.environment === undefined && given && holds(isEnvironment)(given)) return given;
  if (choices.environment !== undefined) {
    if (given?.id === choices.environment && holds(isEnvironment)(given)) return given;
    return byDefault(catalogue, "environment", choices.environment, isEnvironment, true);
  }
  for (const name of catalogue.builtInNames("environment")) {
    const candidate = await byDefault(catalogue, "environment", name, isEnvironment);
    const detection = await detect(candidate, host, signal);
    detections.push(detection);
    if (detection.found) return candidate;
  }
  throw new TrawlerError(
    "TRAWLER_CONFIG_INVALID",
    `no environment was found: ${detections.map(({ name, detail }) => `${name}: ${detail}`).join("; ")}; name one with --environment or in the file`,
  );
}

async function detect(
  { id, plugin, config }: PluginSettings<EnvironmentPlugin>,
  host: ResolveOptions["host"],
  parent: AbortSignal,
): Promise<Detection> {
  if (!plugin.detect) return { name: plugin.name, found: true, detail: "always there" };
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${DETECTION / 1000} s`)), DETECTION);
  parent.addEventListener("abort", abort, { once: true });
  const pluginHost = host(id, controller.signal);
  try {
    const answer = plugin.detect(config, pluginHost, { signal: controller.signal, log: pluginHost.log });
    return { name: plugin.name, ...(await Promise.race([answer, late.promise])) };
  } catch (error) {
    return { name: plugin.name, found: false, detail: errorMessage(error) };
  } finally {
    clearTimeout(timer);
    parent.removeEventListener("abort", abort);
    controller.abort();
  }
}

/** The mode of the same name as what the environment reports, where none is named or the named one doesn't fit it. */
async function chooseMode(
  settings: PipelineSettings,
  environment: EnvironmentPlugin,
  { catalogue, choices = {} }: ResolveOptions,
): Promise<PluginSettings<ModePlugin>> {
  const given = settings.mode;
  if (choices.mode !== undefined && given?.id !== choices.mode)
    return byDefault(catalogue, "mode", choices.mode, isMode, true);
  if (given && holds(isMode)(given)) {
    const fits = given.plugin.accepts.some((kind) => environment.kinds.includes(kind));
    if (fits || choices.environment === undefined || choices.mode !== undefined) return given;
  }
  return byDefault(catalogue, "mode", environment.kinds[0] ?? "host", isMode);
}

async function chooseCrawlers(
  settings: PipelineSettings,
  { catalogue, choices = {} }: ResolveOptions,
): Promise<readonly PluginSettings<CrawlerPlugin>[] | null> {
  const given = settings.crawlers?.filter(holds(isCrawler)) ?? null;
  if (!choices.crawlers) return given;
  const chosen: PluginSettings<CrawlerPlugin>[] = [];
  for (const name of new Set(choices.crawlers)) {
    const configured = given?.filter(({ id, plugin }) => id === name || plugin.name === name) ?? [];
    if (configured.length > 0) chosen.push(...configured);
    else chosen.push(await byDefault(catalogue, "crawler", name, isCrawler, true));
  }
  return chosen;
}

async function allOf<P extends Plugin>(
  catalogue: PluginCatalogue,
  kind: PluginKind,
  is: (plugin: Plugin) => plugin is P,
): Promise<readonly PluginSettings<P>[]> {
  return Promise.all(catalogue.builtInNames(kind).map((name) => byDefault(catalogue, kind, name, is)));
}

async function byDefault<P extends Plugin>(
  catalogue: PluginCatalogue,
  kind: PluginKind,
  name: string,
  is: (plugin: Plugin) => plugin is P,
  named = false,
): Promise<PluginSettings<P>> {
  const settings = { ...(await defaultSettings(await catalogue.load(kind, name))), named };
  if (!holds(is)(settings)) throw new TrawlerError("TRAWLER_PLUGIN_INVALID", `${name} is no ${kind}`);
  return settings;
}

function holds<P extends Plugin>(
  is: (plugin: Plugin) => plugin is P,
): (settings: PluginSettings) => settings is PluginSettings<P> {
  return (settings): settings is PluginSettings<P> => is(settings.plugin);
}

const isEnvironment = (plugin: Plugin): plugin is EnvironmentPlugin => plugin.kind === "environment";
const isMode = (plugin: Plugin): plugin is ModePlugin => plugin.kind === "mode";
const isCrawler = (plugin: Plugin): plugin is CrawlerPlugin => plugin.kind === "crawler";
const isEmitter = (plugin: Plugin): plugin is EmitterPlugin => plugin.kind === "emitter";
