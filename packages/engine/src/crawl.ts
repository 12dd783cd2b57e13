import type { Clock, Feature, Logger, Problem, Subject, Workload } from "@trawler/plugin-api";
import { type Ask, askAll } from "./asked.ts";
import { type CallCrawler, callInline } from "./call.ts";
import { type CallResult, type CrawlLimits, crawlOne, DEFAULT_LIMITS } from "./crawl-one.ts";
import { Guard } from "./guard.ts";
import type { CrawlMemory } from "./memory.ts";
import type { CrawlerInstance, EngineMetrics } from "./options.ts";
import { parallel } from "./parallel.ts";
import { ProblemList } from "./problem.ts";
import { accessFor, inScope, type Target, targetsOf } from "./targets.ts";

export interface CrawlerOptions {
  readonly crawlers: readonly CrawlerInstance[];
  /** Whether the mode opens members; without them every crawler runs on the subject. */
  readonly hasMembers: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<EngineMetrics, "crawlDuration" | "problem">;
  /** Seconds between slots: a crawler's own `every` may come half a slot early. */
  readonly slot: number;
  readonly limits?: CrawlLimits;
  readonly call?: CallCrawler;
}

/** How a crawler's last call on a subject ended, for `explain`. */
export interface CrawlerStatus {
  readonly crawler: string;
  /** `idle`: not asked here, by scope or match. */
  readonly result: "ok" | "idle" | Problem["code"];
  readonly message: string | null;
  readonly features: number;
  readonly seconds: number;
}

/** What all crawlers found on one subject: its own part, and each open member's by container id. */
export interface CrawlResult extends CallResult {
  readonly members: ReadonlyMap<string, CallResult>;
  readonly statuses: readonly CrawlerStatus[];
}

/** Calls in one subject at the same time: one that waits for an application must not hold up the figures. */
const CALLS_AT_ONCE = 8;
const COMMANDS_TIMEOUT = 1000;

interface Planned {
  readonly crawler: CrawlerInstance;
  readonly target: Target;
  readonly ask: Exclude<Ask, null>;
}

/** Asks all crawlers about open subjects; knows nothing of time slots or frames. */
export class SubjectCrawler {
  readonly #options: CrawlerOptions;
  readonly #guards: ReadonlyMap<string, Guard>;
  readonly #modeGuard = new Guard("the process list");

  constructor(options: CrawlerOptions) {
    this.#options = options;
    this.#guards = new Map(options.crawlers.map(({ id }) => [id, new Guard(`crawler ${id}`)]));
  }

  /** Abandoned calls that still run, by crawler. */
  stuck(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#guards, ([id, guard]) => [id, guard.stuck]));
  }

  /** Same input, same features in the same order: by crawler as configured. Throws only when `signal` aborts. */
  async crawl(workload: Workload, subject: Subject, memory: CrawlMemory, signal: AbortSignal): Promise<CrawlResult> {
    const targets = targetsOf(workload, subject);
    memory.retain(new Set(targets.map(({ id }) => id)));
    const shared = new ProblemList();
    const planned = await this.#plan(workload, targets, memory, shared, signal);
    const results = await parallel(planned, CALLS_AT_ONCE, (one) => this.#call(one, workload, memory, signal));
    const parts = new Map(targets.map(({ id }) => [id, { features: [] as Feature[], problems: new ProblemList() }]));
    planned.forEach(({ target }, index) => {
      const part = parts.get(target.id);
      for (const feature of results[index]?.features ?? []) part?.features.push(feature);
      for (const problem of results[index]?.problems ?? []) part?.problems.add(problem);
    });
    const own = parts.get("");
    for (const problem of shared.list()) own?.problems.add(problem);
    parts.delete("");
    const done = (part: { features: Feature[]; problems: ProblemList } | undefined): CallResult => ({
      features: part?.features ?? [],
      problems: part?.problems.list() ?? [],
    });
    return {
      ...done(own),
      members: new Map(Array.from(parts, ([id, part]) => [id, done(part)])),
      statuses: this.#options.crawlers.map(({ id }) => statusOf(id, planned, results)),
    };
  }

  async #plan(
    workload: Workload,
    targets: readonly Target[],
    memory: CrawlMemory,
    problems: ProblemList,
    signal: AbortSignal,
  ): Promise<readonly Planned[]> {
    const { crawlers, hasMembers, clock, slot } = this.#options;
    const commands = this.#commands(workload.id, signal);
    const perCrawler = await Promise.all(
      crawlers.map(async (crawler): Promise<Planned[]> => {
        const { id, plugin, every } = crawler;
        const now = clock.monotonic();
        const candidates = targets.filter(
          (target) => inScope(plugin.scope, target, hasMembers) && memory.isDue(id, target.id, every, now, slot / 2),
        );
        if (candidates.length === 0) return [];
        const { asks, problem } = await askAll(crawler, workload, candidates, commands);
        if (problem) problems.add(problem);
        return candidates.flatMap((target, index) => {
          const ask = asks[index];
          return ask ? [{ crawler, target, ask }] : [];
        });
      }),
    );
    return perCrawler.flat();
  }

  async #call({ crawler, target, ask }: Planned, workload: Workload, memory: CrawlMemory, signal: AbortSignal) {
    const { clock, log, metrics, limits = DEFAULT_LIMITS, call = callInline } = this.#options;
    const { id, plugin } = crawler;
    const guard = this.#guards.get(id);
    const access = accessFor(plugin.needs, target, workload);
    const started = clock.monotonic();
    memory.called(id, target.id, started);
    if (!guard || !access) return { features: [], problems: [], seconds: 0 };
    const context = { clock, log, state: memory.state(id, target.id), ...ask };
    const key = `${workload.id}\n${target.id}`;
    const result = await crawlOne({ crawler, guard, key, access, context, limits, call }, signal);
    const seconds = clock.monotonic() - started;
    metrics.crawlDuration(id, seconds);
    for (const { code } of result.problems) metrics.problem(id, code);
    return { ...result, seconds };
  }

  /** The commands of a target, asked for once a crawl however many crawlers match by process. */
  #commands(workload: string, signal: AbortSignal): (target: Target) => Promise<readonly string[]> {
    const known = new Map<string, Promise<readonly string[]>>();
    const fetch = async ({ access, id }: Target): Promise<readonly string[]> => {
      const proc = access.proc;
      if (!proc) return [];
      try {
        const list = await this.#modeGuard.call(`${workload}\n${id}`, COMMANDS_TIMEOUT, signal, (deadline) =>
          proc.commands({ signal: deadline }),
        );
        return list.map(({ command }) => command);
      } catch {
        // Not readable with our rights, or gone: then nothing matches by process; crawlers that read it say why.
        return [];
      }
    };
    return (target) => {
      const pending = known.get(target.id) ?? fetch(target);
      known.set(target.id, pending);
      return pending;
    };
  }
}

function statusOf(
  id: string,
  planned: readonly Planned[],
  results: readonly (CallResult & { readonly seconds: number })[],
): CrawlerStatus {
  const mine = results.filter((_, index) => planned[index]?.crawler.id === id);
  const problem = mine.flatMap(({ problems }) => problems)[0];
  return {
    crawler: id,
    result: mine.length === 0 ? "idle" : (problem?.code ?? "ok"),
    message: problem?.message ?? null,
    features: mine.reduce((sum, { features }) => sum + features.length, 0),
    seconds: mine.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}
