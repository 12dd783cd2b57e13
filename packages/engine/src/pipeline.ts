import type { Frame, Workload } from "@trawler/plugin-api";
import { SubjectCrawler } from "./crawl.ts";
import { discover } from "./discovery.ts";
import type { Explanation } from "./explain.ts";
import { Gate } from "./gate.ts";
import { runGrid } from "./grid.ts";
import { Guard } from "./guard.ts";
import { crawlOnce } from "./once.ts";
import type { PipelineOptions } from "./options.ts";
import { Outlet } from "./outlet.ts";
import { Registry } from "./registry.ts";
import { type Runs, SubjectTrack } from "./track.ts";
import { settled } from "./wait.ts";

/** Milliseconds that a stop waits for crawls that do not follow their signal. */
const STOP_TIMEOUT = 2000;

/** One environment, one mode, crawlers and emitters, run on a grid and by events. An instance is run once. */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #crawler: SubjectCrawler;
  readonly #modeGuard: Guard;
  #registry: Registry | null = null;
  #outlet: Outlet | null = null;

  constructor(options: PipelineOptions) {
    const { crawlers, mode, clock, log, metrics, every } = options;
    const hasMembers = mode.plugin.provides.member.length > 0;
    this.#options = options;
    this.#crawler = new SubjectCrawler({ crawlers, hasMembers, clock, log, metrics, slot: every });
    // Opening waits for the kernel and a runtime, not for an application: a few that hang must not stop the others.
    this.#modeGuard = new Guard(`mode ${mode.id}`, 64);
  }

  /** Whether the first discovery has reported all that was there. */
  get ready(): boolean {
    return this.#registry?.ready ?? false;
  }

  /**
   * Discovers, crawls and emits until `signal` aborts; then writes what is held back, flushes and resolves. Rejects
   * where the environment fails in a way that no new attempt can mend. Instances stay open: who made them closes them.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { environment, mode, every, clock, node, metrics, log } = this.#options;
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const outlet = new Outlet(this.#options);
    this.#outlet = outlet;
    const create = this.#tracks(outlet, stop.signal);
    const registry = new Registry(mode.instance, mode.plugin, log, create);
    this.#registry = registry;
    const grid = { clock, every, node: node.name };
    const skipped = (count: number): void => metrics.slotsSkipped(count);
    try {
      const slots = runGrid(grid, () => this.#slot(registry), skipped, stop.signal);
      await discover(
        {
          environment: environment.instance,
          id: environment.id,
          log,
          onBegin: () => registry.begin(),
          onEvent: (event) => registry.handle(event),
        },
        stop.signal,
      );
      // An environment that ended by itself has nothing more to report: its workloads are crawled on.
      await slots;
    } finally {
      stop.abort(signal.reason);
      signal.removeEventListener("abort", onAbort);
      const began = performance.now();
      await settled(registry.close(), STOP_TIMEOUT);
      await outlet.close(performance.now() - began);
    }
  }

  /** For a line about itself: subjects now, envelopes sent, lost and queued by all emitters together. */
  stats(): { subjects: number; sent: number; lost: number; queued: number; bytes: number } {
    const subjects = this.#registry?.tracks().filter(({ phase }) => phase !== "ended").length ?? 0;
    return { subjects, ...(this.#outlet?.stats() ?? { sent: 0, lost: 0, queued: 0, bytes: 0 }) };
  }

  /**
   * Crawls once what is there and passes `filter`, emits and flushes. `frames` were made, `lost` envelopes of them no
   * emitter took in time; `problems` stand in the frames. Rates are measured over so many seconds; over none there are none.
   */
  async once(
    signal: AbortSignal,
    { filter = () => true, over = 0 }: { filter?: (workload: Workload) => boolean; over?: number } = {},
  ): Promise<{ frames: number; problems: number; lost: number }> {
    const outlet = new Outlet(this.#options);
    const world = { options: this.#options, crawler: this.#crawler, modeGuard: this.#modeGuard };
    try {
      const send = (workload: Workload, frame: Frame): void => outlet.send(workload, frame);
      const done = await crawlOnce(world, { filter, over, send }, signal);
      await outlet.close();
      return { ...done, lost: outlet.stats().lost };
    } finally {
      await outlet.close();
    }
  }

  /** By name (`shop/cart-0`) or id; null where nothing of that name was seen. */
  explain(name: string): Explanation | null {
    const found = this.#registry?.find(name);
    if (!found) return null;
    const { id: pipeline, environment } = this.#options;
    const { seen, track } = found;
    const workload = track?.workload ?? seen.workload;
    const detail = this.#describe();
    const skipped = seen.skipped ?? (track ? skippedBy(track) : "it ended before the agent looked");
    return {
      pipeline,
      id: workload.id,
      name: workload.name,
      kind: workload.kind,
      foundBy: detail === undefined ? environment.id : `${environment.id}: ${detail}`,
      skipped,
      phase: track?.phase ?? "ended",
      metadata: workload.metadata,
      lastFrame: track?.lastFrame ?? null,
      crawlers: track?.statuses() ?? [],
    };
  }

  #describe(): string | undefined {
    try {
      return this.#options.environment.instance.describe?.();
    } catch {
      return undefined;
    }
  }

  #slot(registry: Registry): void {
    const { metrics } = this.#options;
    const tracks = registry.tracks();
    const skipped = tracks.filter((track) => !track.interval()).length;
    if (skipped > 0) metrics.slotsSkipped(skipped);
    metrics.gauge("subjects", {}, tracks.filter(({ phase }) => phase !== "ended").length);
    for (const [crawler, count] of this.#crawler.stuck()) metrics.gauge("stuck", { crawler }, count);
  }

  #tracks(outlet: Outlet, signal: AbortSignal): (workload: Workload, runs?: Runs) => SubjectTrack {
    const { concurrency, log, metrics, mode } = this.#options;
    const world = {
      options: this.#options,
      log,
      metrics,
      mode: mode.instance,
      hasMembers: mode.plugin.provides.member.length > 0,
      modeGuard: this.#modeGuard,
      crawler: this.#crawler,
      slots: new Gate(concurrency),
      events: new Gate(concurrency),
      signal,
      send: (workload: Workload, frame: Frame): void => outlet.send(workload, frame),
    };
    return (workload, runs) => new SubjectTrack(workload, world, runs);
  }
}

function skippedBy({ phase, lastFrame }: SubjectTrack): string | null {
  if (phase === "waiting") return "no container runs yet";
  return phase === "ended" && lastFrame === null ? "it ended before the agent looked" : null;
}
