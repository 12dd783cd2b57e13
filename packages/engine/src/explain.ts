import type { FrameReason, Metadata, Problem, ProblemCode, WorkloadKind } from "@trawler/plugin-api";
import type { CrawlOutcome } from "./crawl.ts";

/** How a crawler's last calls on a subject ended. */
export interface CrawlerStatus {
  readonly crawler: string;
  /** `idle`: not asked here, by scope, match or period. */
  readonly result: "ok" | "idle" | ProblemCode;
  readonly message: string | null;
  readonly features: number;
  readonly seconds: number;
}

/** Why a workload is crawled or not, and what came of it: the data behind `trawl explain`. */
export interface Explanation {
  readonly pipeline: string;
  readonly id: string;
  readonly name: string;
  readonly kind: WorkloadKind;
  /** The environment and, where it says so, what it found and took. */
  readonly foundBy: string;
  /** Null where it is crawled. */
  readonly skipped: string | null;
  /** Where it stands: `waiting`, `starting`, `running`, `ending`, `ended`. */
  readonly phase: string;
  readonly metadata: Metadata;
  readonly lastFrame: { readonly time: string; readonly reason: FrameReason; readonly sequence: number } | null;
  readonly crawlers: readonly CrawlerStatus[];
}

/** A crawler's calls of one crawl in one line. */
export function statusOf(crawler: string, outcomes: readonly CrawlOutcome[]): CrawlerStatus {
  let problem: Problem | undefined;
  let calls = 0;
  let features = 0;
  let seconds = 0;
  for (const outcome of outcomes) {
    if (outcome.crawler !== crawler) continue;
    calls++;
    problem ??= outcome.problems[0];
    features += outcome.features.length;
    seconds += outcome.seconds;
  }
  const result = calls === 0 ? "idle" : (problem?.code ?? "ok");
  return { crawler, result, message: problem?.message ?? null, features, seconds };
}
