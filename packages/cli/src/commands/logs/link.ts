import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { openHostFileSystem } from "@trawler/linux";
import { DEFAULT_PATHS, type LinkCounts, LinkFolder, LogLinker, openMember, prepareFolder } from "@trawler/log-links";
import { type Environment, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { compose } from "../../container.ts";
import { serveHealth } from "../../http.ts";
import { type ResolvedPipeline, resolvePipelines } from "../../resolve.ts";
import { StopSignal } from "../../signals.ts";
import { startPlugin } from "../../start.ts";
import { lockFolder } from "../../state.ts";
import { Tallying } from "../../tally.ts";
import type { World } from "../../world.ts";
import { type CommonOptions, load } from "../common.ts";
import { createLogsMetrics } from "./metrics.ts";
import { followWorkloads, type Workloads } from "./workloads.ts";

export interface LogsLinkOptions extends CommonOptions {
  readonly environment?: string;
  readonly folder: string;
  readonly once?: boolean;
  /** Milliseconds. */
  readonly every: number;
  readonly name?: string;
  readonly path?: readonly string[];
  readonly inside: boolean;
  readonly perContainer: number;
  readonly inAll: number;
  readonly shipperProc: string;
  readonly httpPort?: number;
}

const GRACE = 12_000;
const MINUTE = 60_000;
/** Milliseconds that `--once` waits for the list of what runs. */
const FIRST_LIST = 30_000;

/** `trawl logs link`: a folder of links in step with what runs, until a signal. 0; with `once` 1 where nothing was linked. */
export async function logsLink(options: LogsLinkOptions, world: World): Promise<number> {
  const { configuration, catalogue, log } = await load(options, world);
  const { folder: path, once = false, environment } = options;
  if (!isAbsolute(path)) throw new TrawlerError("TRAWLER_CONFIG_INVALID", "--folder takes an absolute path");
  using stopping = new StopSignal(GRACE, (signal) => log.info({ signal }, "stopping: links are removed"));
  const { signal: stop } = stopping;
  await using stack = new AsyncDisposableStack();
  const metrics = new Tallying(world.clock, null);
  const composition = stack.use(
    compose({ configuration, log, clock: world.clock, metrics, signal: stop, instance: randomUUID() }),
  );
  const resolved = await resolvePipelines(configuration, {
    catalogue,
    signal: stop,
    host: composition.pluginHost,
    choices: environment === undefined ? {} : { environment },
  });
  const settings = onlyEnvironment(resolved);
  const closing = new AbortController();
  stack.defer(() => closing.abort());
  const started = await startPlugin(
    { ...settings, onStartError: once ? "fail" : settings.onStartError },
    composition.pluginHost(settings.id, closing.signal),
    { stop },
  );
  if (started === null)
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", "there is nothing to link without an environment");
  const source: Environment & Partial<AsyncDisposable> = started.instance;
  stack.defer(() => source[Symbol.asyncDispose]?.());

  prepareFolder(path);
  stack.use(lockFolder(path));
  const folder = new LinkFolder(path);
  const { root, proc } = configuration.host;
  const linker = new LogLinker({
    folder,
    node: stack.use(await openHostFileSystem(root, { signal: stop })),
    open: (container, signal) => openMember(container, proc, signal),
    log: log.child({ folder: path }),
    ...(options.name === undefined ? {} : { template: options.name }),
    paths: options.path ?? DEFAULT_PATHS,
    // Nothing would hold them once this process has ended.
    inside: options.inside && !once,
    perContainer: options.perContainer,
    inAll: options.inAll,
    self: join(options.shipperProc, readlinkSync(join(proc, "self"))),
  });
  const workloads = followWorkloads(source, { signal: stop, log });
  if (once) return await linkOnce(linker, workloads, stop, (counts) => log.info({ ...counts }, "linked"));

  stack.use(linker);
  const own = await createLogsMetrics();
  if (options.httpPort !== undefined) {
    const { address } = configuration.http;
    const unready = (): string | null => (workloads.synced ? null : "the first list is under way");
    const health = stack.use(await serveHealth({ address, port: options.httpPort, unready, metrics: own }));
    log.info({ address, port: health.port }, "serving /healthz, /readyz and /metrics");
  }
  log.info({ folder: path, found: source.describe?.() ?? settings.id }, "linking");
  let counts: LinkCounts | null = null;
  const minute = setInterval(() => log.info({ ...counts }, "status"), MINUTE);
  stack.defer(() => clearInterval(minute));
  while (!stop.aborted) {
    // Before the first list is complete, what it lacks yet has not gone.
    if (workloads.synced) {
      counts = await linker.pass(workloads.all(), stop).catch((error: unknown) => {
        if (!stop.aborted) log.warn({ code: "TRAWLER_PLUGIN_FAILED" }, `a pass failed: ${errorMessage(error)}`);
        return counts;
      });
      if (counts !== null) own.set(counts);
    }
    await workloads.changed(options.every);
  }
  return 0;
}

async function linkOnce(
  linker: LogLinker,
  workloads: Workloads,
  stop: AbortSignal,
  tell: (counts: LinkCounts) => void,
): Promise<number> {
  const end = performance.now() + FIRST_LIST;
  while (!workloads.synced && !stop.aborted) {
    if (performance.now() > end)
      throw new TrawlerError("TRAWLER_UNAVAILABLE", `there was no list of what runs within ${FIRST_LIST / 1000} s`);
    await workloads.changed(100);
  }
  const counts = await linker.pass(workloads.all(), stop);
  tell(counts);
  return counts.linked > 0 ? 0 : 1;
}

/** A folder shows one environment: of several the first one that has containers is taken. */
function onlyEnvironment(pipelines: readonly ResolvedPipeline[]): ResolvedPipeline["environment"] {
  const found = pipelines.map(({ environment }) => environment).find(({ plugin }) => !plugin.kinds.includes("host"));
  if (found !== undefined) return found;
  throw new TrawlerError(
    "TRAWLER_CONFIG_INVALID",
    "there are no containers to link logs of: name --environment kubernetes or docker",
  );
}
