import { type Frame, TrawlerError, type Workload } from "@trawler/plugin-api";
import { optedOut } from "./annotation.ts";
import type { SubjectCrawler } from "./crawl.ts";
import { buildFrame } from "./frame.ts";
import type { Guard } from "./guard.ts";
import { CrawlMemory } from "./memory.ts";
import { Opening } from "./opening.ts";
import type { CrawlerInstance, PipelineOptions } from "./options.ts";
import { parallel } from "./parallel.ts";
import { partsOf } from "./parts.ts";
import { aborted, delay, settled } from "./wait.ts";

/** Milliseconds until everything that is there must have been reported. */
const SYNC_TIMEOUT = 30_000;
/** Milliseconds more that metadata may take to be complete. */
const COMPLETE_TIMEOUT = 2000;

interface World {
  readonly options: PipelineOptions;
  readonly crawler: SubjectCrawler;
  readonly modeGuard: Guard;
}

export interface OnceOptions {
  readonly filter: (workload: Workload) => boolean;
  /** Seconds between two readings of what gives rates; 0 = one reading, no rates. */
  readonly over: number;
  readonly send: (workload: Workload, frame: Frame) => void;
}

/**
 * Crawls once all that runs and passes `filter`. With `over` seconds what gives rates is read before as well, so that
 * they are there; costly crawlers and those that work by difference are called once only. Throws where the environment
 * fails or does not report in time.
 */
export async function crawlOnce(
  { options, crawler, modeGuard }: World,
  { filter, over, send }: OnceOptions,
  signal: AbortSignal,
): Promise<{ frames: number; problems: number }> {
  const { mode, clock, agent, log, concurrency } = options;
  const began = clock.monotonic();
  const workloads = await whatRuns(options, filter, signal);
  const subjects = workloads
    .flatMap((workload) => mode.instance.subjects?.(workload) ?? [workload])
    .map((workload) => ({
      workload,
      opening: new Opening(mode.instance, modeGuard, log, mode.plugin.provides.member.length > 0),
      memory: new CrawlMemory(),
    }));
  let problems = 0;
  try {
    if (over > 0) {
      await parallel(subjects, concurrency, async ({ workload, opening, memory }) => {
        const subject = await opening.open(workload, signal);
        if (!("code" in subject)) await crawler.crawl(workload, subject, memory, signal, givesRates);
      });
      await delay(over * 1000, signal);
      signal.throwIfAborted();
    }
    await parallel(subjects, concurrency, async ({ workload, opening, memory }) => {
      const now = clock.now();
      const observedFor = clock.monotonic() - began;
      const subject = await opening.open(workload, signal);
      const result =
        "code" in subject
          ? { outcomes: [], problems: [subject] }
          : await crawler.crawl(workload, subject, memory, signal);
      const parts = partsOf(workload, result);
      const frame = buildFrame(workload, { reason: "interval", agent, sequence: 1, now, observedFor, ...parts });
      problems += frame.problems.length + frame.containers.reduce((sum, one) => sum + one.problems.length, 0);
      send(workload, frame);
      await opening.close();
    });
  } finally {
    await Promise.all(subjects.map(({ opening }) => opening.close()));
  }
  return { frames: subjects.length, problems };
}

const givesRates = ({ plugin, every }: CrawlerInstance): boolean => plugin.onChange !== true && every === undefined;

/** Workloads that run, once all have been reported and, for a moment, until their metadata is complete. */
async function whatRuns(
  { environment, mode, log }: PipelineOptions,
  filter: (workload: Workload) => boolean,
  signal: AbortSignal,
): Promise<readonly Workload[]> {
  const found = new Map<string, Workload>();
  const wanted = (): readonly Workload[] =>
    [...found.values()].filter(
      (workload) =>
        workload.lifecycle === "running" &&
        mode.plugin.accepts.includes(workload.kind) &&
        !optedOut(workload.annotations) &&
        filter(workload),
    );
  const stop = new AbortController();
  const late = new TrawlerError(
    "TRAWLER_UNAVAILABLE",
    `environment ${environment.id} has not reported what is there within ${SYNC_TIMEOUT / 1000} s`,
  );
  const parent = aborted(signal);
  const timeout = aborted(stop.signal);
  let timer = setTimeout(() => stop.abort(late), SYNC_TIMEOUT);
  const events = environment.instance.discover({ signal: stop.signal, log })[Symbol.asyncIterator]();
  let synced = false;
  try {
    for (;;) {
      if (synced && wanted().every(({ metadata }) => metadata.complete)) return wanted();
      const next = await Promise.race([events.next(), parent.promise, timeout.promise]);
      if (next.done) return wanted();
      if (next.value.type === "removed") found.delete(next.value.workload.id);
      else if (next.value.type !== "synced") found.set(next.value.workload.id, next.value.workload);
      else {
        synced = true;
        clearTimeout(timer);
        timer = setTimeout(() => stop.abort(late), COMPLETE_TIMEOUT);
      }
    }
  } catch (error) {
    if (synced && !signal.aborted) return wanted();
    throw error;
  } finally {
    clearTimeout(timer);
    parent.dispose();
    timeout.dispose();
    stop.abort(new Error("crawled once"));
    if (events.return) await settled((async () => events.return?.())(), 1000);
  }
}
