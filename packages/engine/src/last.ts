import type { Digests, Feature, FeatureDigest, Workload } from "@trawler/plugin-api";
import type { CrawlOutcome } from "./crawl.ts";

interface Sample {
  readonly time: string;
  readonly features: readonly Feature[];
}

/** Rows of one crawler that are kept: long lists (processes, peers) would cost as much memory as all frames together. */
const MAX_ROWS = 50;

/** The last features that each crawler read of a subject and its members, for the `ended` frame. */
export class LastFeatures {
  readonly #samples: Map<string, Map<string, Sample>> = new Map();
  readonly #digests: Map<string, Map<string, FeatureDigest>> = new Map();

  keep(outcomes: readonly CrawlOutcome[], time: string): void {
    for (const { crawler, target, features, digest } of outcomes) {
      if (digest) {
        // Its features have been sent, or will be once more elsewhere: only that they are known is worth keeping.
        const ofTarget = this.#digests.get(target) ?? new Map<string, FeatureDigest>();
        this.#digests.set(target, ofTarget.set(crawler, { ...digest, changed: false, included: false }));
        continue;
      }
      // What failed or found nothing does not replace what was seen before.
      if (features.length === 0) continue;
      const ofTarget = this.#samples.get(target) ?? new Map<string, Sample>();
      if (features.length <= MAX_ROWS) ofTarget.set(crawler, { time, features });
      else ofTarget.delete(crawler);
      this.#samples.set(target, ofTarget);
    }
  }

  /** Features of one target with the time of their reading; those of the crawlers in `except` left out. */
  of(target: string, except: ReadonlySet<string> = new Set()): readonly Feature[] {
    const ofTarget = this.#samples.get(target) ?? new Map<string, Sample>();
    return Array.from(ofTarget).flatMap(([crawler, { time, features }]) =>
      except.has(crawler) ? [] : features.map((feature) => ({ ...feature, observedAt: feature.observedAt ?? time })),
    );
  }

  digests(target: string): Digests {
    return Object.fromEntries(this.#digests.get(target) ?? []);
  }

  has(target: string, crawler: string): boolean {
    return (this.#samples.get(target)?.has(crawler) ?? this.#digests.get(target)?.has(crawler)) === true;
  }

  clear(): void {
    this.#samples.clear();
    this.#digests.clear();
  }

  /** Frees what belongs to containers that the workload no longer has. */
  retain({ containers }: Workload): void {
    const ids = new Set(containers.map(({ id }) => id));
    for (const kept of [this.#samples, this.#digests]) {
      for (const target of kept.keys()) if (target !== "" && !ids.has(target)) kept.delete(target);
    }
  }
}
