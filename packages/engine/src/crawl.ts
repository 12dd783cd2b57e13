import {
  type Clock,
  type Feature,
  type FeatureDigest,
  type Logger,
  type Problem,
  parseDuration,
  type Subject,
  type Workload,
} from "@trawler/plugin-api";
import { type Ask, type Asks, askAll } from "./asked.ts";
import { type CallResult, type CrawlLimits, crawlOne, DEFAULT_LIMITS, DIFFERENCE_LIMITS } from "./crawl-one.ts";
import type { Moment } from "./difference.ts";
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
}

/** What one crawler said about one target: a container id, or an empty text for the subject. */
export interface CrawlOutcome extends CallResult {
  readonly crawler: string;
  readonly target: string;
  readonly seconds: number;
  /** Of a crawler that works by difference. */
  readonly digest?: FeatureDigest;
}

/** All that was found on one target. */
export interface TargetResult extends CallResult {
  /** By crawler. */
  readonly digests?: Readonly<Record<string, FeatureDigest>>;
}

/** What all crawlers found on one subject, in the order of the configuration. */
export interface CrawlResult {
  readonly outcomes: readonly CrawlOutcome[];
  /** What is wrong with the subject itself: an annotation that cannot be read. */
  readonly problems: readonly Problem[];
}

/** Calls in one subject at the same time: one that waits for an application must not hold up the figures. */
const CALLS_AT_ONCE = 8;
const COMMANDS_TIMEOUT = 1000;
/** Seconds after which a whole value is due again where neither settings nor plugin say. */
const REFRESH = 3600;

interface Waiting {
  readonly crawler: CrawlerInstance;
  readonly target: Target;
}

interface Planned {
  readonly crawler: CrawlerInstance;
  readonly target: Target;
  readonly ask: Exclude<Ask, null>;
}

/** Asks all crawlers about open subjects; knows nothing of time slots or frames. */
export class SubjectCrawler {
  readonly #options: CrawlerOptions;
  readonly #guards: ReadonlyMap<string, Guard>;
  readonly #modeGuard: Guard = new Guard("the process list");

  constructor(options: CrawlerOptions) {
    this.#options = options;
    this.#guards = new Map(options.crawlers.map(({ id }) => [id, new Guard(`crawler ${id}`)]));
  }

  /** Abandoned calls that still run, by crawler. */
  stuck(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#guards, ([id, guard]) => [id, guard.stuck]));
  }

  /** Same input, same features in the same order. `only` chooses among the crawlers. Throws only when `signal` aborts. */
  async crawl(
    workload: Workload,
    subject: Subject,
    memory: CrawlMemory,
    signal: AbortSignal,
    only: (crawler: CrawlerInstance) => boolean = () => true,
  ): Promise<CrawlResult> {
    const targets = targetsOf(workload, subject);
    memory.retain(targets);
    const problems = new ProblemList();
    const commands = this.#commands(workload.id, signal);
    const planned: (Planned | Waiting)[] = [];
    for (const crawler of this.#options.crawlers) {
      if (!only(crawler)) continue;
      const plan = this.#plan(crawler, workload, targets, memory, commands, problems);
      planned.push(...(plan instanceof Promise ? await plan : plan));
    }
    const outcomes = await parallel(planned, CALLS_AT_ONCE, (one) =>
      "ask" in one ? this.#call(one, workload, memory, signal) : standing(one, memory),
    );
    return { outcomes: outcomes.filter((outcome) => outcome !== null), problems: problems.list() };
  }

  #plan(
    crawler: CrawlerInstance,
    workload: Workload,
    targets: readonly Target[],
    memory: CrawlMemory,
    commands: (target: Target) => Promise<readonly string[]>,
    problems: ProblemList,
  ): readonly (Planned | Waiting)[] | Promise<readonly (Planned | Waiting)[]> {
    const { hasMembers, clock, slot } = this.#options;
    const { id, plugin, every } = crawler;
    const now = clock.monotonic();
    const candidates: Target[] = [];
    const later: Waiting[] = [];
    for (const target of targets) {
      if (!inScope(plugin.scope, target, hasMembers)) continue;
      if (every === undefined || memory.isDue(id, target.id, every, now, slot / 2)) candidates.push(target);
      else if (plugin.onChange) later.push({ crawler, target });
    }
    if (candidates.length === 0) return later;
    const choose = ({ asks, problem }: Asks): readonly (Planned | Waiting)[] => {
      if (problem) problems.add(problem);
      const due = candidates.flatMap((target, index) => {
        const ask = asks[index];
        return ask ? [{ crawler, target, ask }] : [];
      });
      return later.length === 0 ? due : [...due, ...later];
    };
    const asking = askAll(crawler, workload, candidates, commands);
    return asking instanceof Promise ? asking.then(choose) : choose(asking);
  }

  async #call(
    { crawler, target, ask }: Planned,
    workload: Workload,
    memory: CrawlMemory,
    signal: AbortSignal,
  ): Promise<CrawlOutcome | null> {
    const { clock, log, metrics } = this.#options;
    const { id, plugin } = crawler;
    const limits = this.#options.limits ?? (plugin.onChange ? DIFFERENCE_LIMITS : DEFAULT_LIMITS);
    const guard = this.#guards.get(id);
    const access = accessFor(plugin.needs, target, workload);
    // The plan says at start which crawler finds no level that gives what it needs.
    if (!guard || !access) return null;
    const started = clock.monotonic();
    memory.called(id, target.id, started);
    const work = plugin.onChange ? memory.difference(id, target.id).begin(this.#moment(crawler, started)) : null;
    const { unchanged, fingerprint } = work ?? NEVER_UNCHANGED;
    const { asked, annotation } = ask;
    const state = memory.state(id, target.id);
    const context = { clock, log, state, unchanged, fingerprint, asked, annotation };
    const key = target.id === "" ? workload.id : `${workload.id}\n${target.id}`;
    const answer = await crawlOne({ crawler, guard, key, access, context, limits }, signal);
    const seconds = clock.monotonic() - started;
    metrics.crawlDuration(id, seconds);
    for (const { code } of answer.problems) metrics.problem(id, code);
    const { features, problems } = answer;
    if (work === null) return { features, problems, crawler: id, target: target.id, seconds };
    return { ...work.settle({ features, problems }, answer.whole), crawler: id, target: target.id, seconds };
  }

  #moment({ plugin, refresh }: CrawlerInstance, monotonic: number): Moment {
    const own = parseDuration(plugin.refresh ?? "");
    const usual = own === null ? REFRESH : own / 1000;
    return { time: new Date(this.#options.clock.now()).toISOString(), monotonic, refresh: refresh ?? usual };
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

const NEVER_UNCHANGED = { unchanged: () => false, fingerprint: null };

/** Between two calls of a crawler that works by difference the frames carry its digest. */
function standing({ crawler: { id }, target }: Waiting, memory: CrawlMemory): CrawlOutcome | null {
  const digest = memory.difference(id, target.id).standing();
  return digest === null ? null : { features: [], problems: [], crawler: id, target: target.id, seconds: 0, digest };
}

/** What was found on one target, all crawlers together. */
export function collect(outcomes: readonly CrawlOutcome[], target: string): TargetResult {
  const problems = new ProblemList();
  const features: Feature[] = [];
  let digests: Record<string, FeatureDigest> | undefined;
  for (const outcome of outcomes) {
    if (outcome.target !== target) continue;
    for (const problem of outcome.problems) problems.add(problem);
    for (const feature of outcome.features) features.push(feature);
    const { crawler, digest } = outcome;
    if (digest) digests = { ...digests, [crawler]: digest };
  }
  return { features, problems: problems.list(), ...(digests && { digests }) };
}
