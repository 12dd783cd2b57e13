import { errorMessage, type Frame, type FrameReason, type Logger, type Mode, type Workload } from "@trawler/plugin-api";
import type { CrawlResult, SubjectCrawler } from "./crawl.ts";
import { type CrawlerStatus, statusOf } from "./explain.ts";
import { buildFrame } from "./frame.ts";
import type { Gate } from "./gate.ts";
import type { Guard } from "./guard.ts";
import { LastFeatures } from "./last.ts";
import { Lifecycle, type Phase } from "./lifecycle.ts";
import { CrawlMemory } from "./memory.ts";
import { Opening } from "./opening.ts";
import type { CrawlerInstance, EngineMetrics, PipelineOptions } from "./options.ts";
import { finalPartsOf, partsOf } from "./parts.ts";
import { Sampler } from "./sampler.ts";
import { isRunning } from "./significant.ts";

/** What all tracks of a pipeline share. */
export interface TrackWorld {
  readonly options: Pick<PipelineOptions, "agent" | "clock" | "crawlers">;
  readonly log: Logger;
  readonly metrics: Pick<EngineMetrics, "problem">;
  readonly mode: Mode;
  readonly hasMembers: boolean;
  readonly modeGuard: Guard;
  readonly crawler: SubjectCrawler;
  /** Crawls of a slot, and those that an event asks for: a slot full of slow crawls must not hold up an event. */
  readonly slots: Gate;
  readonly events: Gate;
  /** Aborts when the pipeline stops. */
  readonly signal: AbortSignal;
  readonly send: (workload: Workload, frame: Frame) => void;
}

/** What the runs of one subject share: their frames are counted on, and a run begins when the one before is closed. */
export interface Runs {
  sequence: number;
  before: Promise<void>;
}

/** One subject from its first sight to its end. All work on it is done one after another: no two crawls overlap. */
export class SubjectTrack {
  readonly #world: TrackWorld;
  readonly #lifecycle: Lifecycle;
  readonly #opening: Opening;
  readonly #memory: CrawlMemory = new CrawlMemory();
  readonly #last: LastFeatures = new LastFeatures();
  readonly #statuses: Map<string, CrawlerStatus> = new Map();
  readonly #sampler: Sampler;
  readonly runs: Runs;
  #chain: Promise<void>;
  #workload: Workload;
  #intervalDue = false;
  #readAt: number;
  #lastFrame: { readonly time: string; readonly reason: FrameReason; readonly sequence: number } | null = null;

  constructor(workload: Workload, world: TrackWorld, runs: Runs = { sequence: 0, before: Promise.resolve() }) {
    const { mode, modeGuard, log, options, hasMembers } = world;
    this.runs = runs;
    this.#chain = runs.before;
    this.#world = world;
    this.#workload = workload;
    this.#readAt = options.clock.monotonic();
    this.#opening = new Opening(mode, modeGuard, log, hasMembers);
    this.#sampler = new Sampler(options.clock, () => this.#enqueue(() => this.#sampleYoung()));
    this.#lifecycle = new Lifecycle(workload, (reason) => this.#enqueue(() => this.#write(reason)));
  }

  get workload(): Workload {
    return this.#workload;
  }

  get phase(): Phase {
    return this.#lifecycle.phase;
  }

  get lastFrame(): { readonly time: string; readonly reason: FrameReason; readonly sequence: number } | null {
    return this.#lastFrame;
  }

  statuses(): readonly CrawlerStatus[] {
    return [...this.#statuses.values()];
  }

  /** First sight or a change. */
  observe(workload: Workload): void {
    const before = this.#workload;
    this.#workload = workload;
    const { phase } = this.#lifecycle;
    this.#follow(before, workload);
    this.#lifecycle.observe(workload);
    // While the first frame waits for metadata the container may end: read it once now.
    if (phase === "waiting" && this.phase === "starting") this.#enqueue(() => this.#sample(workload));
  }

  /** The workload's record has gone. */
  remove(workload: Workload): void {
    const before = this.#workload;
    this.#workload = workload;
    this.#follow(before, workload);
    this.#lifecycle.remove(workload);
    this.#enqueue(() => this.#opening.close());
  }

  /** It had ended before anyone looked: no frame is written. */
  dismiss(): void {
    this.#lifecycle.dismiss();
  }

  /** Asks for this slot's frame; false where the last slot's is still being made, so that this one is skipped. */
  interval(): boolean {
    if (!this.#lifecycle.isRunning) return true;
    if (this.#intervalDue) return false;
    this.#intervalDue = true;
    this.#enqueue(async () => {
      try {
        if (this.#lifecycle.isRunning) await this.#write("interval");
      } finally {
        this.#intervalDue = false;
      }
    });
    return true;
  }

  /** Writes what is held back, from what was last read where nothing can be read any more, and frees everything. */
  async close(): Promise<void> {
    this.#lifecycle.close();
    this.#sampler.stop();
    this.#enqueue(() => this.#opening.close());
    this.runs.before = this.#chain;
    await this.#chain;
  }

  #enqueue(work: () => Promise<void>): void {
    this.#chain = this.#chain.then(work).catch((error: unknown) => {
      if (this.#world.signal.aborted) return;
      this.#world.log.error({ workload: this.#workload.name }, `a crawl failed: ${errorMessage(error)}`);
    });
  }

  #follow(before: Workload, now: Workload): void {
    const runs = new Set(runningIds(now));
    const stopped = runningIds(before).some((id) => !runs.has(id));
    this.#enqueue(async () => {
      // While the members are still open: the pod's cgroup holds the share of the container that has just gone.
      if (stopped) await this.#sample(before);
      await this.#opening.update(now, this.#world.signal);
      this.#last.retain(now);
    });
    this.#sampler.observe(now);
  }

  async #sampleYoung(): Promise<void> {
    if (this.#lifecycle.phase !== "ended") await this.#sample(this.#workload);
  }

  /** Reads figures without a frame: what costs little and cannot disturb an application. */
  async #sample(workload: Workload): Promise<void> {
    const { crawler, events, signal, options } = this.#world;
    await events.run(async () => {
      const subject = this.#opening.current ?? (await this.#opening.open(workload, signal));
      if ("code" in subject) return;
      const time = new Date(options.clock.now()).toISOString();
      const { outcomes } = await crawler.crawl(workload, subject, this.#memory, signal, isFigures);
      this.#last.keep(outcomes, time);
    });
  }

  async #write(reason: FrameReason): Promise<void> {
    const { options, slots, events, signal, send } = this.#world;
    const { clock, agent } = options;
    if (signal.aborted && reason === "interval") return;
    const { now, monotonic, workload, result } = await (reason === "interval" ? slots : events).run(async () => {
      const workload = this.#workload;
      const now = clock.now();
      const monotonic = clock.monotonic();
      return { now, monotonic, workload, result: await this.#crawl(workload, signal) };
    });
    if (signal.aborted && reason === "interval") return;
    const time = new Date(now).toISOString();
    this.#last.keep(result.outcomes, time);
    for (const { id } of options.crawlers) this.#statuses.set(id, statusOf(id, result.outcomes));
    const parts = reason === "ended" ? finalPartsOf(workload, result, this.#last) : partsOf(workload, result);
    const observedFor = monotonic - this.#readAt;
    this.#readAt = monotonic;
    const sequence = ++this.runs.sequence;
    this.#lastFrame = { time, reason, sequence };
    send(workload, buildFrame(workload, { reason, agent, sequence, now, observedFor, ...parts }));
    if (reason !== "ended") return;
    this.#sampler.stop();
    this.#last.clear();
    await this.#opening.close();
  }

  /** Once the pipeline stops nothing can be read any more. */
  async #crawl(workload: Workload, signal: AbortSignal): Promise<CrawlResult> {
    if (signal.aborted) return NOTHING;
    try {
      const subject = await this.#opening.open(workload, signal);
      if ("code" in subject) {
        this.#world.metrics.problem(null, subject.code);
        return { outcomes: [], problems: [subject] };
      }
      return await this.#world.crawler.crawl(workload, subject, this.#memory, signal);
    } catch (error) {
      if (signal.aborted) return NOTHING;
      throw error;
    }
  }
}

const NOTHING: CrawlResult = { outcomes: [], problems: [] };

/** Counters of cgroups and interfaces: a few kernel files, no application and no file of the container. */
function isFigures({ plugin }: CrawlerInstance): boolean {
  return (
    !plugin.match &&
    !plugin.onChange &&
    plugin.needs.every((need) => need === "cgroup" || need === "net" || need === "meta")
  );
}

function runningIds({ containers }: Workload): readonly string[] {
  return containers.flatMap(({ id, state }) => (id !== null && isRunning(state.status) ? [id] : []));
}
