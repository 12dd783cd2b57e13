import { once } from "node:events";
import { JournalFolder, type Service, startService } from "@trawler/provision";
import { createLog } from "../../../log.ts";
import { StopSignal } from "../../../signals.ts";
import { VERSION } from "../../../version.ts";
import type { World } from "../../../world.ts";
import { openCluster } from "../cluster.ts";
import { findInventory } from "../inventory.ts";
import { notifiersOf } from "../notify.ts";
import { createServeMetrics } from "./metrics.ts";
import { type ServeOptions, serveSettings } from "./settings.ts";

/** Milliseconds after a stop signal at which the process ends whatever happens. */
const GRACE = 10_000;
const CONNECTIONS = 64;

/** `trawl provision serve`: answers until a signal. Returns the exit code. */
export async function provisionServe(options: ServeOptions, world: World): Promise<number> {
  const settings = await serveSettings(options, world);
  const { http, token, tls, catalogue, runs, notify, keep } = settings;
  const log = await createLog(options.logLevel ?? settings.log.level, world.stderr.terminal, world.stderr.colours);
  using stopping = new StopSignal(GRACE, (name) =>
    log.info({ signal: name }, "stopping: runs are left as they are, and gone on with at the next start"),
  );
  const client = await openCluster(settings.cluster, world, CONNECTIONS);
  let service: Service | null = null;
  const metrics = await createServeMetrics(() => service?.status() ?? null);
  const folder = new JournalFolder(settings.folder);
  await using started = await startService({
    ...http,
    concurrent: runs.concurrent,
    waiting: runs.waiting,
    retention: keep === null ? null : { keep },
    token,
    tls,
    catalogue,
    inline: settings.inlineTemplates,
    folder,
    client,
    requestTimeout: settings.requestTimeout,
    inventory: (cluster) => findInventory(settings.inventory, cluster, world),
    clock: world.clock,
    log,
    version: VERSION,
    notifiers: notifiersOf(settings, log, world),
    metrics,
    onAnswer: metrics.answered,
    onEnd: metrics.ended,
  });
  service = started;
  log.info(
    {
      url: started.url,
      cluster: client.target.server.origin,
      from: client.target.origin,
      folder: folder.path,
      catalog: catalogue,
      token: token === null ? "none: this host's programs only" : "needed",
      notify: ["log", ...Object.keys(notify)],
    },
    `Trawler ${VERSION} provisioning`,
  );
  if (!stopping.signal.aborted) await once(stopping.signal, "abort");
  return 0;
}
