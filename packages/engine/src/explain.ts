import type { FrameReason, Metadata, ProblemCode, WorkloadKind } from "@trawler/plugin-api";
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
  const mine = outcomes.filter((outcome) => outcome.crawler === crawler);
  const problem = mine.flatMap(({ problems }) => problems)[0];
  return {
    crawler,
    result: mine.length === 0 ? "idle" : (problem?.code ?? "ok"),
    message: problem?.message ?? null,
    features: mine.reduce((sum, { features }) => sum + features.length, 0),
    seconds: mine.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}
