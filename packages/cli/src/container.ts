/** The only file that knows the container. Plugins, engine and config take plain values; tests call constructors. */
import "reflect-metadata";
import { hostname } from "node:os";
import type { Configuration, PluginSettings } from "@trawler/config";
import {
  type CrawlerInstance,
  type EmitterInstance,
  type EngineMetrics,
  type Instance,
  Pipeline,
} from "@trawler/engine";
import {
  type Clock,
  type Envelope,
  type Environment,
  type EnvironmentPlugin,
  errorMessage,
  type Mode,
  type ModePlugin,
  type NodeInfo,
  type Plugin,
  type PluginHost,
  TrawlerError,
} from "@trawler/plugin-api";
import { type DependencyContainer, type InjectionToken, instanceCachingFactory, container as root } from "tsyringe";
import { withAttributes } from "./attributes.ts";
import type { Log } from "./log.ts";
import type { ResolvedPipeline } from "./resolve.ts";
import { type InstanceOf, startPlugin } from "./start.ts";
import { VERSION } from "./version.ts";

const token = <T>(name: string): InjectionToken<T> => Symbol(name) as InjectionToken<T>;

// One of each per process.
const LOG = token<Log>("log");
const CLOCK = token<Clock>("clock");
const NODE = token<NodeInfo>("node");
const AGENT = token<{ readonly instance: string; readonly version: string }>("agent");
const ATTRIBUTES = token<Configuration["attributes"]>("attributes");
const METRICS = token<EngineMetrics>("metrics");
const SIGNAL = token<AbortSignal>("signal");
// One of each per pipeline.
const SETTINGS = token<ResolvedPipeline>("settings");
const STARTER = token<Starter>("starter");
const ENVIRONMENT = token<Promise<Instance<EnvironmentPlugin, Environment>>>("environment");
const MODE = token<Promise<Instance<ModePlugin, Mode>>>("mode");
const CRAWLERS = token<Promise<readonly CrawlerInstance[]>>("crawlers");
const EMITTERS = token<Promise<readonly EmitterInstance[]>>("emitters");
const PIPELINE = token<Promise<BuiltPipeline>>("pipeline");

/** Seconds that a stop waits for frames that are queued. */
const FLUSH = 10;
/** Milliseconds that the closing of one instance may take. */
const CLOSING = 5_000;

type Starter = <P extends Plugin>(settings: PluginSettings<P>) => Promise<Instance<P, InstanceOf<P>> | null>;

export interface BuiltPipeline {
  readonly settings: ResolvedPipeline;
  readonly pipeline: Pipeline;
  /** What the environment says that it found and took. */
  readonly found: () => string | null;
}

export interface Parts {
  readonly configuration: Configuration;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: EngineMetrics;
  /** Aborts when the agent stops. */
  readonly signal: AbortSignal;
  /** This run of the agent, in each frame. */
  readonly instance: string;
  /** How often a plugin that may start later is tried; for ever where absent. */
  readonly startAttempts?: number;
  /** Is shown what the first emitter of each pipeline is given. */
  readonly tap?: (envelopes: readonly Envelope[]) => void;
}

/** What the process shares, and a way to build pipelines on it. Disposing closes what was built, the last first. */
export interface Composition extends AsyncDisposable {
  readonly node: NodeInfo;
  pluginHost(id: string, signal: AbortSignal): PluginHost;
  pipeline(settings: ResolvedPipeline): Promise<BuiltPipeline>;
}

export function compose({
  configuration,
  log,
  clock,
  metrics,
  signal,
  instance,
  startAttempts,
  tap,
}: Parts): Composition {
  const process = root.createChildContainer();
  const stack = new AsyncDisposableStack();
  process.register(LOG, { useValue: log });
  process.register(CLOCK, { useValue: clock });
  process.register(ATTRIBUTES, { useValue: configuration.attributes });
  process.register(METRICS, { useValue: metrics });
  process.register(SIGNAL, { useValue: signal });
  process.register(AGENT, { useValue: { instance, version: VERSION } });
  process.register(NODE, { useFactory: instanceCachingFactory(() => nodeInfo(configuration)) });
  const host = (id: string, own: AbortSignal): PluginHost => ({
    id,
    log: process.resolve(LOG).child({ plugin: id }),
    clock: process.resolve(CLOCK),
    node: process.resolve(NODE),
    signal: own,
  });
  return {
    get node() {
      return process.resolve(NODE);
    },
    pluginHost: host,
    pipeline: (settings) => {
      const scope = process.createChildContainer();
      scope.register(SETTINGS, { useValue: settings });
      scope.register(STARTER, {
        useValue: async (plugin) => {
          // An instance hears of its end when it is closed, not when the agent begins to stop: it still flushes.
          const closing = new AbortController();
          const started = await startPlugin(plugin, host(plugin.id, closing.signal), {
            stop: signal,
            attempts: startAttempts,
          });
          if (started) stack.defer(() => close(started, closing, log));
          return started;
        },
      });
      registerPipeline(scope, tap);
      return scope.resolve(PIPELINE);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function registerPipeline(scope: DependencyContainer, tap: Parts["tap"]): void {
  scope.register(ENVIRONMENT, {
    useFactory: instanceCachingFactory(async (c) =>
      needed(await c.resolve(STARTER)(c.resolve(SETTINGS).environment), "environment"),
    ),
  });
  scope.register(MODE, {
    useFactory: instanceCachingFactory(async (c) => needed(await c.resolve(STARTER)(c.resolve(SETTINGS).mode), "mode")),
  });
  scope.register(CRAWLERS, {
    useFactory: instanceCachingFactory(async (c) => {
      const { crawlers, timeout } = c.resolve(SETTINGS);
      const started = await Promise.all(
        crawlers.map(async (settings) => {
          const instance = await c.resolve(STARTER)(settings);
          const { every, refresh, named } = settings;
          return (
            instance && {
              ...instance,
              timeout: settings.timeout ?? timeout,
              named,
              ...(every === undefined ? {} : { every }),
              ...(refresh === undefined ? {} : { refresh }),
            }
          );
        }),
      );
      return started.filter((instance) => instance !== null);
    }),
  });
  scope.register(EMITTERS, {
    useFactory: instanceCachingFactory(async (c) => {
      const { emitters, queue } = c.resolve(SETTINGS);
      const started = await Promise.all(emitters.map((settings) => c.resolve(STARTER)(settings)));
      const own = started.filter((instance) => instance !== null).map((instance) => ({ ...instance, queue }));
      return tap ? own.map((emitter, index) => (index === 0 ? tapped(emitter, tap) : emitter)) : own;
    }),
  });
  scope.register(PIPELINE, {
    useFactory: instanceCachingFactory(async (c) => {
      const settings = c.resolve(SETTINGS);
      // Emitters first, so that a wrong one is told before anything is discovered.
      const emitters = await c.resolve(EMITTERS);
      const [mode, crawlers, found] = await Promise.all([c.resolve(MODE), c.resolve(CRAWLERS), c.resolve(ENVIRONMENT)]);
      const { id, every, concurrency } = settings;
      const environment = withAttributes(found, c.resolve(ATTRIBUTES));
      const pipeline = new Pipeline({
        id,
        environment,
        mode,
        crawlers,
        emitters,
        every,
        concurrency,
        flushTimeout: FLUSH,
        node: c.resolve(NODE),
        agent: c.resolve(AGENT),
        clock: c.resolve(CLOCK),
        log: c.resolve(LOG).child({ pipeline: id }),
        metrics: labelled(c.resolve(METRICS), id),
      });
      return { settings, pipeline, found: () => found.instance.describe?.() ?? null };
    }),
  });
}

function tapped(emitter: EmitterInstance, tap: (envelopes: readonly Envelope[]) => void): EmitterInstance {
  const { instance } = emitter;
  return {
    ...emitter,
    instance: {
      ...(instance.maxBytes === undefined ? {} : { maxBytes: instance.maxBytes }),
      ...(instance.sizeOf && { sizeOf: (bytes: Uint8Array) => instance.sizeOf?.(bytes) ?? bytes.length }),
      write: (envelopes, context) => {
        tap(envelopes);
        return instance.write(envelopes, context);
      },
    },
  };
}

/** Gauges of several pipelines must not overwrite each other. */
function labelled(metrics: EngineMetrics, pipeline: string): EngineMetrics {
  return {
    crawlDuration: (...args) => metrics.crawlDuration(...args),
    problem: (...args) => metrics.problem(...args),
    frame: (...args) => metrics.frame(...args),
    framesLost: (...args) => metrics.framesLost(...args),
    slotsSkipped: (...args) => metrics.slotsSkipped(...args),
    gauge: (name, labels, value) => metrics.gauge(name, { ...labels, pipeline }, value),
  };
}

function needed<T>(instance: T | null, kind: string): T {
  if (instance === null)
    throw new TrawlerError(
      "TRAWLER_CONFIG_INVALID",
      `a pipeline can't do without its ${kind}: onStartError: skip is for crawlers and emitters`,
    );
  return instance;
}

async function close({ id, instance }: Instance<Plugin, object>, closing: AbortController, log: Log): Promise<void> {
  closing.abort();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no end within ${CLOSING / 1000} s`)), CLOSING);
  try {
    await Promise.race([instance[Symbol.asyncDispose]?.(), late.promise]);
  } catch (error) {
    log.warn({ plugin: id }, `closing failed: ${errorMessage(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

function nodeInfo({ node, cluster, host }: Configuration): NodeInfo {
  return { name: node.name || hostname(), cluster: cluster.name, paths: host };
}
