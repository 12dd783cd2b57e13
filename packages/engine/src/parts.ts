import type { Problem, Workload } from "@trawler/plugin-api";
import { type CrawlResult, collect, type TargetResult } from "./crawl.ts";
import type { LastFeatures } from "./last.ts";

/** What a frame says of the subject itself and of each container, by id. */
export interface Parts {
  readonly subject: TargetResult;
  readonly members: ReadonlyMap<string, TargetResult>;
}

export function partsOf({ containers }: Workload, { outcomes, problems }: CrawlResult): Parts {
  const subject = collect(outcomes, "");
  const members = new Map<string, TargetResult>();
  for (const { id } of containers) if (id !== null) members.set(id, collect(outcomes, id));
  return {
    subject: problems.length === 0 ? subject : { ...subject, problems: [...problems, ...subject.problems] },
    members,
  };
}

/**
 * The same for the last frame: where a crawler finds nothing any more its last features stand in, with their time.
 * That it finds nothing, or that something has gone, is then no problem. Of crawlers that work by difference the last
 * digests stand in.
 */
export function finalPartsOf(workload: Workload, result: CrawlResult, last: LastFeatures): Parts {
  const complete = (target: string, { features, problems, digests }: TargetResult): TargetResult => {
    const fresh = new Set(
      result.outcomes.filter((one) => one.target === target && one.features.length > 0).map(({ crawler }) => crawler),
    );
    const standsIn = ({ crawler }: Problem): boolean =>
      crawler !== null && !fresh.has(crawler) && last.has(target, crawler);
    const known = { ...last.digests(target), ...digests };
    return {
      features: [...features, ...last.of(target, fresh)],
      problems: problems.filter((problem) => problem.code !== "gone" && !standsIn(problem)),
      ...(Object.keys(known).length > 0 && { digests: known }),
    };
  };
  const { subject, members } = partsOf(workload, result);
  return {
    subject: complete("", subject),
    members: new Map(Array.from(members, ([id, part]) => [id, complete(id, part)])),
  };
}
