import type { FrameReason, Metadata, WorkloadKind } from "@trawler/plugin-api";
import type { CrawlerStatus } from "./crawl.ts";

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
  /** The last status of each crawler that was considered. */
  readonly crawlers: readonly CrawlerStatus[];
}
