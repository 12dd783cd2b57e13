import type { Access, Capability } from "./access.ts";
import type { Feature, FeatureSchemas } from "./frame.ts";
import type { CallContext, Clock, Common } from "./plugin.ts";
import type { Schema } from "./schema.ts";

/**
 * Facts that the host tests itself, so that an application crawler is woken only where it may apply. Globs with `*`
 * and `?`; one hit of any kind is enough. Absent for a system crawler, which applies to every target.
 */
export interface Match {
  /** Against the image's repository, without registry, tag and digest; its last part alone also counts. */
  readonly image?: readonly string[];
  /** Against `comm` of the member's processes. */
  readonly process?: readonly string[];
}

/** `member`: once per container; `subject`: once per pod; `both`: at either level (a pod's total and each container's). */
export type Scope = "member" | "subject" | "both";

export interface CrawlContext extends CallContext {
  readonly clock: Clock;
  /** Numbers kept between two crawls of the same thing by the same crawler (for rates); bounded by the crawler. */
  readonly state: Map<string, number>;
  /** Why this crawler was asked here: a rule of its `match`, an annotation, or that it is a system crawler. */
  readonly asked: "always" | "match" | "annotation";
  /** The settings of an annotation `trawler.dev/crawl.<name>`; null without one. Hostile input. */
  readonly annotation: Readonly<Record<string, unknown>> | null;
  /**
   * For a crawler that works by difference (`onChange`): whether its last whole result on this target came of the same
   * fingerprint, such as sizes and times of its inputs. True: end now and yield nothing, the host keeps what it said.
   * Ask once, before the first feature; the host says false where the whole value is due again.
   */
  unchanged(fingerprint: string): boolean;
  /** What `unchanged` compares with; null where there is none, or the whole value is due. */
  readonly fingerprint: string | null;
  /** Says what could not be read, or not whole: it stands in the frame beside the features. */
  problem(code: "denied" | "truncated" | "failed" | "unavailable", message: string): void;
}

export interface CrawlerPlugin<
  N extends readonly Capability[] = readonly Capability[],
  F extends FeatureSchemas = FeatureSchemas,
  C extends Schema = Schema,
> extends Common<"crawler", C, Crawler<N, F>> {
  readonly scope: Scope;
  readonly needs: N;
  /** A schema per feature type: one flat object; each number carries its UCUM unit as `x-unit`. */
  readonly features: F;
  readonly match?: Match;
  /** Works by difference: frames carry the digest of its features, and the features where they changed or are due. */
  readonly onChange?: true;
  /** After which time the whole value is due again, such as `1h` (the default); settings may say another. */
  readonly refresh?: string;
  /** Time between two calls on one target, such as `5m`, for one that is costly each time; settings may say another. */
  readonly every?: string;
}

export interface Crawler<
  N extends readonly Capability[] = readonly Capability[],
  F extends FeatureSchemas = FeatureSchemas,
> {
  /** Same input, same output and order. Throws coded errors; what was yielded before a throw is kept. */
  crawl(access: Pick<Access, N[number]>, context: CrawlContext): AsyncIterable<Feature<F>>;
}
