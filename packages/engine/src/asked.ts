import type { CrawlContext, Problem, Workload } from "@trawler/plugin-api";
import { type Asked, askedFor } from "./annotation.ts";
import { matchesImage, matchesProcess } from "./match.ts";
import type { CrawlerInstance } from "./options.ts";
import { makeProblem } from "./problem.ts";
import type { Target } from "./targets.ts";

/** Why a crawler is asked about a target, or null where it is not. */
export type Ask = Pick<CrawlContext, "asked" | "annotation"> | null;

/** `commands` of a target, fetched at most once a crawl. */
export type Commands = (target: Target) => Promise<readonly string[]>;

/** Why a crawler is asked about each of some targets. */
export interface Asks {
  readonly asks: readonly Ask[];
  /** Of an annotation that cannot be used. */
  readonly problem: Problem | null;
}

const ALWAYS: Ask = { asked: "always", annotation: null };
const MATCH: Ask = { asked: "match", annotation: null };

/**
 * Which of these targets a crawler is asked about. An annotation that names no container goes to those that match,
 * else to the first running `app` container (or the subject). Answers at once where no process has to be looked at.
 */
export function askAll(
  { id, plugin }: CrawlerInstance,
  workload: Workload,
  targets: readonly Target[],
  commands: Commands,
): Asks | Promise<Asks> {
  const wish = askedFor(plugin.name, workload.annotations);
  const problem = wish.kind === "invalid" ? makeProblem(id, "failed", wish.reason) : null;
  const { match } = plugin;
  if (!match) {
    if (wish.kind !== "settings") return { asks: targets.map(() => ALWAYS), problem };
    return {
      asks: asksOf(
        wish,
        targets,
        targets.map(() => true),
        false,
      ),
      problem,
    };
  }
  const byImage = targets.map((target) => imagesOf(target, workload).some((image) => matchesImage(match, image)));
  if (match.process === undefined || byImage.every(Boolean))
    return { asks: asksOf(wish, targets, byImage, true), problem };
  const matching = targets.map(
    async (target, index) => byImage[index] || matchesProcess(match, await commands(target)),
  );
  return Promise.all(matching).then((matched) => ({ asks: asksOf(wish, targets, matched, true), problem }));
}

function asksOf(
  wish: Asked,
  targets: readonly Target[],
  matched: readonly boolean[],
  hasMatch: boolean,
): readonly Ask[] {
  const chosen = chooseByAnnotation(wish, targets, matched, hasMatch);
  return targets.map((_, index): Ask => {
    if (wish.kind === "settings" && chosen.has(index)) return { asked: "annotation", annotation: wish.settings };
    if (!matched[index]) return null;
    return hasMatch ? MATCH : ALWAYS;
  });
}

function chooseByAnnotation(
  wish: Asked,
  targets: readonly Target[],
  matched: readonly boolean[],
  hasMatch: boolean,
): ReadonlySet<number> {
  if (wish.kind !== "settings") return new Set();
  const indexes = targets.map((_, index) => index);
  if (wish.container !== undefined) {
    return new Set(indexes.filter((index) => targets[index]?.container?.name === wish.container));
  }
  const hits = indexes.filter((index) => matched[index]);
  if (hits.length > 0 || !hasMatch) return new Set(hits);
  const app = indexes.find((index) => targets[index]?.container?.type === "app");
  return new Set([app ?? 0]);
}

function imagesOf({ container }: Target, workload: Workload): readonly string[] {
  return container ? [container.image] : workload.containers.map(({ image }) => image);
}
