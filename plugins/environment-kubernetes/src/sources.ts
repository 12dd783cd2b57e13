import { followRuntime, type RuntimeEvent, type RuntimeIdentity, sleep } from "@trawler/kube";
import { parseCommandLine } from "@trawler/linux";
import { errorCode, errorMessage, type Logger, type PluginHost, retryable } from "@trawler/plugin-api";
import { type ApiSink, ApiSource } from "./api-source.ts";
import { CgroupSource } from "./cgroup-source.ts";
import type { Config } from "./config.ts";
import type { EventQueue } from "./queue.ts";
import { selector } from "./select.ts";
import { Substitutes } from "./substitutes.ts";
import { PodTable } from "./table.ts";
import type { World } from "./world.ts";

/** Who tells what runs: a runtime's socket, or the API server together with the cgroup tree. */
export type Discovery = "cri" | "api";

export interface SourcesOptions {
  readonly config: Config;
  readonly host: PluginHost;
  readonly world: World;
  readonly discovery: Discovery;
  readonly queue: EventQueue;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly onRuntime: (runtime: RuntimeIdentity) => void;
}

/** Milliseconds that `synced` waits for the API's first answer and its owners: then the first frames are whole. */
const API_HOLD = 3_000;
/** Milliseconds between two tries of the sockets where the API tells what runs only because none opened. */
const PROBE_AGAIN = 30_000;

/** Runs all sources until the signal aborts; throws TRAWLER_RETRY where a better one can be taken. */
export async function runSources(options: SourcesOptions): Promise<void> {
  const { config, host, world, discovery, queue, signal, log, onRuntime } = options;
  const { node, clock } = host;
  const client = world.api;
  const api = client === null ? null : new ApiSource({ client, node: node.name, clock, log });
  const without = { since: new Date(clock.now()).toISOString(), reason: world.withoutApi };
  const table = new PodTable({
    cluster: node.cluster,
    node: node.name,
    select: selector(config),
    queue,
    owner: api === null ? null : (record) => api.owner(record),
    away: api === null ? without : null,
  });
  await using resources = new AsyncDisposableStack();
  const files = await world.openFiles().catch((error: unknown) => {
    log.info({ code: errorCode(error) }, `downward API files are not read: ${errorMessage(error)}`);
    return null;
  });
  if (files !== null) resources.use(files);
  const kubeletRoot = config.kubelet.root;
  const substitutes = new Substitutes({ table, podsApi: world.podsApi, kubeletRoot, files, clock, log, signal });
  const runtimeReady = Promise.withResolvers<void>();
  const apiReady = Promise.withResolvers<void>();
  let apiSynced = false;
  let away: string | null = null;

  let cgroups: CgroupSource | null = null;
  if (discovery === "api") {
    const onLooked = (): void => {
      if (!apiSynced) return;
      table.runtimeSynced();
      runtimeReady.resolve();
    };
    cgroups = new CgroupSource({ table, clock, signal, onLooked, finder: world.cgroups() });
  }
  const sink: ApiSink = {
    record: (record, observedAt) => {
      table.apiRecord(record, observedAt, cgroups !== null);
      cgroups?.record(record);
    },
    deleted: (record, observedAt) => {
      table.apiDeleted(record, observedAt);
      cgroups?.gone(record);
    },
    synced: () => {
      apiSynced = true;
      table.apiSynced();
      substitutes.end();
      cgroups?.wake();
      apiReady.resolve();
    },
    away: (since, reason) => {
      table.setAway({ since: new Date(since).toISOString(), reason });
      substitutes.begin();
      apiReady.resolve();
    },
    back: () => {
      table.setAway(null);
      substitutes.end();
    },
    owner: (uid) => table.ownerChanged(uid),
  };
  if (api === null) {
    substitutes.begin();
    apiReady.resolve();
  }
  const announce = async (): Promise<void> => {
    await Promise.race([runtimeReady.promise, aborted(signal)]);
    const hold = new AbortController();
    const over = sleep(API_HOLD, signal).then(() => hold.abort());
    await Promise.race([apiReady.promise, over]);
    while (api !== null && api.pending > 0 && !hold.signal.aborted) await sleep(50, hold.signal);
    if (signal.aborted) return;
    if (apiSynced && table.size > 0 && table.declared === 0) {
      log.warn({ node: node.name }, "the API server has no pod of this node, and the runtime has: is node.name right?");
    }
    queue.synced();
  };
  const onEvent = (event: RuntimeEvent): void => {
    if (event.type === "pod") table.setRuntime(event.pod);
    else if (event.type === "gone") table.runtimeGone(event.pod);
    else if (event.type === "away") {
      // Once for each kind of trouble: it is tried again for as long as it takes.
      log[event.code === away ? "debug" : "warn"](
        { code: event.code },
        `the container runtime is away: ${event.reason}`,
      );
      away = event.code;
      table.setRuntimeAway(true);
    } else {
      away = null;
      const { name, version, socket } = event.runtime;
      log.info({ runtime: name, version, socket }, "the container runtime answers");
      onRuntime(event.runtime);
      table.setRuntimeAway(false);
      table.runtimeSynced();
      runtimeReady.resolve();
    }
  };
  const runtime = (): Promise<void> =>
    followRuntime({
      open: (stop) => world.openRuntime(stop),
      environmentNames: (uid) => table.environmentNames(uid),
      redact: (words) => parseCommandLine(words.join("\0")),
      onEvent,
      clock,
      log,
      signal,
    });
  const provisional = discovery === "api" && config.discovery === "auto";
  await Promise.all([
    cgroups === null ? runtime() : cgroups.run(),
    api?.run(sink, signal),
    announce(),
    provisional ? probeAgain(world, signal) : null,
  ]);
}

/** Throws as soon as a runtime's socket opens. */
async function probeAgain(world: World, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(PROBE_AGAIN, signal);
    if (signal.aborted) return;
    const client = await world.openRuntime(signal).catch(() => null);
    if (client === null) continue;
    client[Symbol.dispose]();
    throw retryable(`a container runtime answers at ${client.socket} now`);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
