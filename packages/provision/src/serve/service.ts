import type { ApiClient } from "@trawler/kube";
import { type Clock, errorCode, type Logger, TrawlerError } from "@trawler/plugin-api";
import { Cluster } from "../cluster/cluster.ts";
import type { JournalFolder } from "../journal/folder.ts";
import type { RunState } from "../journal/record.ts";
import { Deliverer } from "../notify/deliver.ts";
import { notificationOf } from "../notify/notification.ts";
import type { Notifier } from "../notify/notifier.ts";
import type { Inventory } from "../wait/types.ts";
import { isLoopback } from "./auth.ts";
import { Creator } from "./create.ts";
import { type CredentialOptions, RotatingCredentials } from "./credentials.ts";
import { type Answered, createHttp } from "./http.ts";
import { Instances } from "./instances.ts";
import { type RetentionOptions, retain } from "./retention.ts";
import { addHealth } from "./routes-health.ts";
import { addInstances } from "./routes-instances.ts";
import { addTemplates } from "./routes-templates.ts";
import { ServiceStore } from "./store.ts";
import { TemplateWork, type TemplateWorkOptions } from "./template-work.ts";
import { type TemplateSourceOptions, Templates } from "./templates.ts";
import { Worker, type WorkerStatus } from "./worker.ts";

export interface ServiceOptions extends CredentialOptions, TemplateSourceOptions {
  readonly folder: JournalFolder;
  readonly client: ApiClient;
  /** Milliseconds that one request to the cluster may take. */
  readonly requestTimeout?: number;
  /** Looks for a running inventory to hand over to what was made. Default: there is none. */
  readonly inventory?: (cluster: Cluster) => Promise<Inventory | null>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Serve programs of this host without a token: only where `token` is null, and only on loopback. */
  readonly insecureNoToken: boolean;
  /** Runs at a time, and runs that may wait for their turn. */
  readonly concurrent: number;
  readonly waiting: number;
  /** For how long runs that have nothing in the cluster are remembered; null: for ever. */
  readonly retention?: Pick<RetentionOptions, "keep" | "every"> | null;
  /** How templates are read. */
  readonly reading?: TemplateWorkOptions;
  readonly notifiers: readonly Notifier[];
  readonly onAnswer?: (answered: Answered) => void;
  /** A run is over. */
  readonly onEnd?: (state: RunState) => void;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  /** Milliseconds between two looks at the files of token and certificate. */
  readonly rotation?: number;
}

export interface ServiceStatus extends WorkerStatus {
  readonly outbox: { readonly waiting: number; readonly givenUp: number };
}

/** A listening service. Disposing it leaves the runs as they are, for the next one to go on with, and ends the client. */
export interface Service extends AsyncDisposable {
  /** Such as `https://127.0.0.1:9469`. */
  readonly url: string;
  status(): ServiceStatus;
}

/** Milliseconds that requests under way have when the service stops. */
const GRACE = 3_000;
/** Milliseconds of one question about what a form creates. */
const FORM_TIMEOUT = 5_000;

/**
 * Serves provisioning, and first takes up what an earlier process left. Throws TRAWLER_CONFIG_INVALID where it would be
 * open to all, TRAWLER_BUSY where the address or the folder is taken.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { folder, client, clock, log, address, port, token, insecureNoToken, notifiers } = options;
  if (token === null && !(insecureNoToken && isLoopback(address))) throw open(address, insecureNoToken);
  await using stack = new AsyncDisposableStack();
  const held = folder.lock("service", 0);
  if (held === null)
    throw new TrawlerError("TRAWLER_BUSY", `another service works on ${folder.path}; name another folder`);
  stack.use(held);
  const credentials = stack.use(await RotatingCredentials.open(options, log, options.rotation));
  if (credentials.tls === null && !isLoopback(address))
    log.warn({ address }, "tokens and values cross the network in the clear: set a certificate, or listen on loopback");
  const store = stack.use(new ServiceStore(folder.path));
  const stopping = new AbortController();
  const deliverer = new Deliverer({ store, notifiers, log, now: clock.now });
  const cluster = (): Cluster => new Cluster(client, options.requestTimeout);
  const worker = new Worker({
    ...options,
    store,
    cluster,
    ended: (report) => {
      const notification = notificationOf(report);
      const { id, instance } = notification;
      const body = JSON.stringify(notification);
      store.endTask(
        instance,
        notifiers.map(({ name }) => ({ target: name, id, instance, body })),
        clock.now(),
      );
      deliverer.wake();
      options.onEnd?.(report.state);
    },
  });
  const reading = stack.use(new TemplateWork(options.reading));
  const templates = new Templates(options, reading);
  const creator = new Creator({ templates, folder, store, worker, clock, cluster });
  const instances = new Instances(folder, worker);
  const app = await createHttp({ ...options, credentials });
  // A form is shown without them where the cluster is slow.
  const rights = (): Cluster => new Cluster(client, Math.min(options.requestTimeout ?? FORM_TIMEOUT, FORM_TIMEOUT));
  const routes = { templates, creator, instances, rights, signal: stopping.signal };
  addTemplates(app, routes);
  addInstances(app, routes);
  addHealth(app, {
    unready: () => (stopping.signal.aborted ? "it is stopping" : null),
    metrics: options.metrics,
  });
  try {
    await app.listen({ host: address, port });
  } catch (error) {
    const code = errorCode(error);
    const why = code === "EADDRINUSE" ? "is taken: choose another port" : `cannot be used (${code ?? "?"})`;
    throw new TrawlerError("TRAWLER_BUSY", `the address ${address}:${port} ${why}`, { cause: error });
  }
  worker.recover();
  const delivering = deliverer.run(stopping.signal);
  const { retention = null } = options;
  const retaining =
    retention === null ? null : retain({ folder, store, worker, clock, log, ...retention }, stopping.signal);
  stack.defer(async () => {
    stopping.abort();
    const late = setTimeout(() => app.server.closeAllConnections(), GRACE);
    await app.close();
    clearTimeout(late);
    await worker.stop(() => client[Symbol.dispose]());
    await Promise.all([delivering, retaining]);
  });
  const kept = stack.move();
  const bound = app.server.address();
  const listens = typeof bound === "object" && bound !== null ? bound.port : port;
  const host = address.includes(":") ? `[${address}]` : address;
  return {
    url: `${credentials.tls === null ? "http" : "https"}://${host}:${listens}`,
    status: () => ({ ...worker.status, outbox: store.outbox }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function open(address: string, insecure: boolean): TrawlerError {
  const message = insecure
    ? `without a token only loopback is served, and ${address} is not: set a token`
    : "whoever reaches this service may create what it may create: set a token file, or serve this host's programs without one by --insecure-no-token";
  return new TrawlerError("TRAWLER_CONFIG_INVALID", message);
}
