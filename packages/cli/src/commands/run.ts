import { randomUUID } from "node:crypto";
import { errorCode, errorMessage } from "@trawler/plugin-api";
import { type BuiltPipeline, compose } from "../container.ts";
import { keepSmall } from "../footprint.ts";
import { serveHealth } from "../http.ts";
import type { Log } from "../log.ts";
import { COLOURS, formatPlan, PLAIN, type Plan, planFields } from "../plan.ts";
import { createPrometheus } from "../prometheus.ts";
import { resolvePipelines } from "../resolve.ts";
import { StopSignal } from "../signals.ts";
import { FrameReaders, serveData } from "../socket.ts";
import { lockFolder, makeStateFolder, stateFolder } from "../state.ts";
import { Tallying } from "../tally.ts";
import type { World } from "../world.ts";
import { type CommonOptions, load } from "./common.ts";

/** Milliseconds after a stop signal at which the process ends whatever happens: the flush's ten seconds and a little. */
const GRACE = 12_000;
/** Seconds over which one crawl measures rates. */
const OVER = 1;
const MINUTE = 60_000;

/** `trawl run`: the agent, until a signal; with `once` it ends after one crawl. Returns the exit code. */
export async function run(options: CommonOptions & { readonly once?: boolean }, world: World): Promise<number> {
  const { configuration, catalogue, log } = await load(options, world);
  using stopping = new StopSignal(GRACE, (signal) => log.info({ signal }, "stopping: queued frames are written"));
  const { signal: stop } = stopping;
  const folder = stateFolder(configuration.state.folder, world.env, world.userId);
  await using stack = new AsyncDisposableStack();
  if (options.once !== true) {
    makeStateFolder(folder);
    stack.use(lockFolder(folder));
  }
  if (options.once !== true) stack.use(keepSmall());
  const prometheus = await createPrometheus();
  const metrics = new Tallying(world.clock, prometheus);
  const readers = new FrameReaders();
  const composition = stack.use(
    compose({
      configuration,
      log,
      clock: world.clock,
      metrics,
      signal: stop,
      instance: randomUUID(),
      ...(options.once === true ? { startAttempts: 3 } : { tap: (envelopes) => readers.write(envelopes) }),
    }),
  );
  const resolved = await resolvePipelines(configuration, { catalogue, signal: stop, host: composition.pluginHost });
  const running: BuiltPipeline[] = [];
  const served: [string, string][] = [];
  if (options.once !== true) {
    const health = stack.use(
      await serveHealth({
        ...configuration.http,
        metrics: prometheus,
        unready: () => unready(running, resolved.length),
      }),
    );
    const data = stack.use(
      await serveData({
        stateFolder: folder,
        readers,
        explain: (name) => running.flatMap(({ pipeline }) => pipeline.explain(name) ?? []),
      }),
    );
    stack.defer(() => readers.end());
    served.push(["health", `http://${host(configuration.http.address)}:${health.port} (/healthz /readyz /metrics)`]);
    served.push(["socket", data.path]);
    served.push(["state", folder]);
  }
  for (const settings of resolved) running.push(await composition.pipeline(settings));
  const plan: Plan = {
    configuration,
    node: composition.node.name,
    pipelines: resolved,
    environments: new Map(
      running.flatMap(({ settings, found }) => (found() === null ? [] : [[settings.id, found() ?? ""]])),
    ),
    served,
  };
  await showPlan(plan, world, log);
  if (options.once === true) {
    const results = await Promise.all(running.map(({ pipeline }) => pipeline.once(stop, { over: OVER })));
    if (results.some(({ frames }) => frames > 0)) return 0;
    log.error({ code: "TRAWLER_UNSUPPORTED" }, "nothing could be crawled: there is nothing here that the plan matches");
    return 1;
  }
  const minute = setInterval(() => log.info({ ...metrics.take() }, "status"), MINUTE);
  stack.defer(() => clearInterval(minute));
  const failure = await runAll(running, stop, log);
  log.info({ ...metrics.take() }, "stopped");
  if (failure === null) return 0;
  world.tellEnd?.(failure);
  return 1;
}

/**
 * Until the stop, or until one pipeline can't go on: that ends the others with their flush, and an orchestrator starts
 * anew. Returns what the first failed with; null = none did.
 */
async function runAll(running: readonly BuiltPipeline[], stop: AbortSignal, log: Log): Promise<string | null> {
  const failing = new AbortController();
  let failure: string | null = null;
  const signal = AbortSignal.any([stop, failing.signal]);
  await Promise.all(
    running.map(async ({ pipeline, settings }) => {
      try {
        await pipeline.run(signal);
      } catch (error) {
        const text = `the pipeline can't go on: ${errorMessage(error)}`;
        log.error({ code: errorCode(error) ?? "UNKNOWN", pipeline: settings.id }, text);
        failure ??= `pipeline ${settings.id}: ${text}`;
        failing.abort();
      }
    }),
  );
  return failure;
}

function unready(running: readonly BuiltPipeline[], expected: number): string | null {
  if (running.length < expected) return "plugins start";
  const waiting = running.filter(({ pipeline }) => !pipeline.ready).map(({ settings }) => settings.id);
  return waiting.length === 0 ? null : `the first sync is under way in pipeline ${waiting.join(", ")}`;
}

async function showPlan(plan: Plan, { stderr }: World, log: Log): Promise<void> {
  if (stderr.terminal) await stderr.write(`${formatPlan(plan, stderr.colours ? COLOURS : PLAIN)}\n`);
  else log.info({ plan: planFields(plan) }, "plan");
}

function host(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
