import { randomUUID } from "node:crypto";
import { defaultSettings, type PluginSettings } from "@trawler/config";
import { type EmitterPlugin, TrawlerError, type Workload } from "@trawler/plugin-api";
import type { PluginCatalogue } from "../catalogue.ts";
import { compose } from "../container.ts";
import { pageEmitter } from "../page/emitter.ts";
import { resolvePipelines } from "../resolve.ts";
import { StopSignal } from "../signals.ts";
import { Tallying } from "../tally.ts";
import type { World } from "../world.ts";
import { type CommonOptions, load } from "./common.ts";
import { pageOptions } from "./show.ts";

export interface OnceOptions extends CommonOptions {
  readonly environment?: string;
  readonly mode?: string;
  readonly crawlers?: readonly string[];
  readonly pod?: string;
  /** Seconds over which rates are measured. */
  readonly over: number;
  readonly output: "auto" | "json" | "page";
  readonly rows: number;
  readonly meanings?: boolean;
}

const GRACE = 12_000;

/**
 * `trawl once`: one crawl, frames on standard output, as JSON lines or as pages for people. 0, or 1 where nothing could
 * be crawled.
 */
export async function once(options: OnceOptions, world: World): Promise<number> {
  const { environment, mode, crawlers, pod } = options;
  const { configuration, catalogue, log } = await load(options, world);
  using stopping = new StopSignal(GRACE, (signal) => log.info({ signal }, "stopping"));
  const { signal: stop } = stopping;
  await using composition = compose({
    configuration,
    log,
    clock: world.clock,
    metrics: new Tallying(world.clock, null),
    signal: stop,
    instance: randomUUID(),
    startAttempts: 3,
  });
  const resolved = await resolvePipelines(configuration, {
    catalogue,
    signal: stop,
    host: composition.pluginHost,
    choices: {
      ...(environment === undefined ? {} : { environment }),
      ...(mode === undefined ? {} : { mode }),
      ...(crawlers === undefined ? {} : { crawlers }),
      emitter: await emitterOf(options, catalogue, world),
    },
  });
  const wanted = (workload: Workload): boolean => pod === undefined || workload.name === pod || workload.id === pod;
  let frames = 0;
  for (const settings of resolved) {
    const { pipeline } = await composition.pipeline(settings);
    const result = await pipeline.once(stop, { filter: wanted, over: options.over });
    frames += result.frames;
    log.debug({ pipeline: settings.id, ...result }, "crawled once");
  }
  if (frames > 0) return 0;
  log.error(
    { code: "TRAWLER_UNSUPPORTED" },
    pod === undefined
      ? "nothing could be crawled"
      : `nothing could be crawled: no ${pod} is here; name it as namespace/name, or by its id`,
  );
  return 1;
}

async function emitterOf(
  { output, rows, meanings = false }: OnceOptions,
  catalogue: PluginCatalogue,
  world: World,
): Promise<PluginSettings<EmitterPlugin>> {
  const asPage = output === "page" || (output === "auto" && world.stdout.terminal);
  if (asPage) return pageEmitter(world.stdout, await pageOptions({ rows, meanings }, catalogue, world));
  const plugin = await catalogue.load("emitter", "stdout");
  if (plugin.kind !== "emitter") throw new TrawlerError("TRAWLER_PLUGIN_INVALID", "stdout is no emitter");
  return { ...(await defaultSettings(plugin)), plugin, config: { format: "json" } };
}
