import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import {
  checkCluster,
  createFramesReader,
  createPublisher,
  type FramesReader,
  leadByLease,
  makeKafka,
  openCollector,
  type Publisher,
  parsePostgresqlUrl,
} from "@trawler/inventory";
import {
  type ApiClient,
  type ApiTarget,
  createApiClient,
  inClusterTarget,
  kubeconfigTarget,
  sleep,
} from "@trawler/kube";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { serveHealth } from "../../http.ts";
import { createLog, type Log } from "../../log.ts";
import { StopSignal } from "../../signals.ts";
import { lockFolder, makeStateFolder } from "../../state.ts";
import { VERSION } from "../../version.ts";
import type { World } from "../../world.ts";
import type { CommonOptions } from "../common.ts";
import { createInventoryMetrics, type InventoryMetrics } from "./metrics.ts";
import { reviewRights } from "./role.ts";
import { type InventorySettings, inventorySettings } from "./settings.ts";
import { type AnyCollector, serveCollector } from "./socket.ts";

/** Milliseconds after a stop signal at which the process ends whatever happens. */
const GRACE = 12_000;
const MINUTE = 60_000;
const RETRY = [500, 15_000] as const;

/** `trawl inventory run`: follows a cluster until a signal. Returns the exit code. */
export async function inventoryRun(options: CommonOptions, world: World): Promise<number> {
  const settings = await inventorySettings(options, world);
  const log = await createLog(options.logLevel ?? settings.log.level, world.stderr.terminal, world.stderr.colours);
  using stopping = new StopSignal(GRACE, (name) => log.info({ signal: name }, "stopping: what is queued is written"));
  const { signal } = stopping;
  const target = await apiTarget(settings, world);
  using client = createApiClient({ target, environment: world.env, userAgent: `trawler-inventory/${VERSION}` });
  makeStateFolder(settings.folder);
  let collector: AnyCollector | null = null;
  let standing = false;
  await using stack = new AsyncDisposableStack();
  const metrics = await createInventoryMetrics(() => collector?.status() ?? null);
  const health = stack.use(
    await serveHealth({
      ...settings.http,
      metrics,
      // A standby that sees another one lead does what it is there for.
      unready: () => {
        if (collector !== null) return collector.status().unready;
        return standing ? null : "this replica does not lead (yet)";
      },
    }),
  );
  const base: Running = { settings, client, log, world, metrics, show: (running) => (collector = running) };
  const { address } = settings.http;
  log.info(
    {
      cluster: settings.cluster,
      server: target.server.origin,
      from: target.origin,
      kinds: settings.kinds.map(({ stream }) => stream),
      folder: settings.folder,
      ...(settings.postgresql !== null && { store: parsePostgresqlUrl(settings.postgresql.url).shown }),
      health: `http://${address}:${health.port}`,
    },
    `Trawler ${VERSION} inventory`,
  );
  const minute = setInterval(() => log.info(summary(collector), "status"), MINUTE);
  stack.defer(() => clearInterval(minute));
  try {
    if (settings.lease === null) await collect(base, 0, signal);
    else {
      const identity = `${hostname()}_${randomUUID()}`;
      const lead = (token: number, held: AbortSignal): Promise<void> => collect(base, token, held);
      const told = (by: boolean): void => {
        standing = by;
      };
      const lease = { client, clock: world.clock, log, identity, standing: told, ...settings.lease };
      await leadByLease(lease, lead, signal);
    }
  } catch (error) {
    log.error({ code: errorCode(error) ?? "UNKNOWN" }, `the inventory can't go on: ${errorMessage(error)}`);
    return 1;
  }
  log.info({}, "stopped");
  return 0;
}

interface Running {
  readonly settings: InventorySettings;
  readonly client: ApiClient;
  readonly log: Log;
  readonly world: World;
  readonly metrics: InventoryMetrics;
  show(collector: AnyCollector | null): void;
}

/** Follows the cluster until the signal aborts. Rejects where it cannot go on. */
async function collect({ settings, client, log, world, metrics, show }: Running, token: number, signal: AbortSignal) {
  const { folder, cluster, writer } = settings;
  using _lock = lockFolder(folder);
  await checked(client, folder, log, signal);
  await reviewRights(client, settings, log, signal);
  if (signal.aborted) return;
  await using stack = new AsyncDisposableStack();
  const running = stack.use(
    await openCollector({
      client,
      clock: world.clock,
      log,
      cluster,
      folder,
      ...(settings.postgresql !== null && { postgresql: settings.postgresql }),
      kinds: settings.kinds,
      token,
      flushMilliseconds: writer.every,
      flushEvents: writer.events,
      flushBytes: writer.bytes,
      queueBytes: settings.queueBytes,
      retention: settings.retention,
      lag: metrics.lag,
      tuning: { streamingList: settings.api.streamingList },
    }),
  );
  show(running);
  stack.defer(() => show(null));
  stack.use(await serveCollector(folder, () => running));
  // Whatever ends first ends the rest. The topic's writer comes last: what the collector applies at its end is written too.
  const ending = new AbortController();
  const publishing = new AbortController();
  const both = AbortSignal.any([signal, ending.signal]);
  const publisher = await preparePublisher(settings, running, log);
  const frames = await prepareFrames(settings, running, log, world);
  const published = publisher?.run(publishing.signal);
  const framed = frames?.run(both);
  const followed = running.run(both);
  try {
    await Promise.race([followed, tellReady(running, log, both)]);
  } finally {
    ending.abort();
    await Promise.allSettled([followed, framed]);
    await running.writer.flush(running.queue.status().durable).catch(() => undefined);
    publishing.abort();
    await published;
  }
}

/** Tries until the server answers, as what comes next needs it too. */
async function checked(client: ApiClient, folder: string, log: Log, signal: AbortSignal): Promise<void> {
  for (let wait: number = RETRY[0]; !signal.aborted; wait = Math.min(wait * 2, RETRY[1])) {
    try {
      await checkCluster(client, folder, signal);
      return;
    } catch (error) {
      if (errorCode(error) === "TRAWLER_REFUSED") throw error;
      if (!signal.aborted) log.warn({ code: errorCode(error) ?? "UNKNOWN" }, errorMessage(error));
      await sleep(wait * (0.5 + Math.random() / 2), signal);
    }
  }
}

async function preparePublisher(
  { kafka, folder }: InventorySettings,
  { store, writer }: AnyCollector,
  log: Log,
): Promise<Publisher | null> {
  if (kafka?.records === undefined) return null;
  const own = await makeKafka(kafka, (text) => log.debug({}, text));
  const publisher = createPublisher({ kafka: own, store, log, folder, ...kafka.records });
  writer.onApplied(() => publisher.wake());
  return publisher;
}

async function prepareFrames(
  { kafka, cluster }: InventorySettings,
  { queue }: AnyCollector,
  log: Log,
  { clock }: World,
): Promise<FramesReader | null> {
  if (kafka?.frames === undefined) return null;
  const { topic, group = `trawler-inventory-${cluster}` } = kafka.frames;
  const own = await makeKafka(kafka, (text) => log.debug({}, text));
  const append = queue.append.bind(queue);
  return createFramesReader({ kafka: own, log, topic, group, cluster, now: clock.now, append });
}

/** One line when it is in step, one when it no longer is. */
async function tellReady(collector: AnyCollector, log: Log, signal: AbortSignal): Promise<void> {
  let told: string | null = "not yet";
  while (!signal.aborted) {
    const { unready } = collector.status();
    if (unready === null && told !== null) log.info(summary(collector), "ready: in step with the cluster");
    else if (unready !== null && told === null) log.warn({ reason: unready }, "not ready");
    told = unready;
    await sleep(250, signal);
  }
}

function summary(collector: AnyCollector | null): object {
  if (collector === null) return { leader: false };
  const { kinds, depth, writer } = collector.status();
  const objects = Object.fromEntries(kinds.map(({ stream, reflector }) => [stream, reflector.objects]));
  return { objects, depth, applied: writer.applied, stale: writer.staleIgnored, quarantined: writer.quarantined };
}

async function apiTarget({ api }: InventorySettings, world: World): Promise<ApiTarget> {
  if (api.kubeconfig !== undefined) return kubeconfigTarget(api.kubeconfig, api.context);
  const target = inClusterTarget(world.env);
  if (target !== null) return target;
  throw new TrawlerError(
    "TRAWLER_CONFIG_INVALID",
    "this process runs in no cluster: name a kubeconfig, for example --set api.kubeconfig=/path",
  );
}
