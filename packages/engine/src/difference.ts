import { createHash } from "node:crypto";
import type { CrawlContext, Feature, FeatureDigest } from "@trawler/plugin-api";
import type { CallResult } from "./crawl-one.ts";
import { encode } from "./encode.ts";
import { shortFingerprint } from "./fingerprint.ts";

/** When a crawl is made, and from when on the whole value is due again. */
export interface Moment {
  /** RFC 3339. */
  readonly time: string;
  /** Seconds. */
  readonly monotonic: number;
  /** Seconds after which a value that was sent is sent again. */
  readonly refresh: number;
}

/** What is kept of one crawler that works by difference on one target: never its features. */
export class Difference {
  #known: FeatureDigest | null = null;
  /** It has found something: then that it finds nothing any more is worth telling. */
  #told = false;
  #fingerprint: string | null = null;
  #sentAt = Number.NEGATIVE_INFINITY;

  /** What a call is given: it says by `unchanged` that its result would be the last one. */
  begin(moment: Moment): Call {
    const due = this.#isDue(moment);
    return new Call(due || this.#known === null ? null : this.#fingerprint);
  }

  /** What a frame says between two calls, or where one could not be made; null where nothing is known. */
  standing(): FeatureDigest | null {
    return this.#known !== null && this.#told ? { ...this.#known, changed: false, included: false } : null;
  }

  /** Leaves the features in the result only where they are news, or due. One that is not whole changes nothing. */
  settle(
    call: Call,
    result: CallResult,
    whole: boolean,
    moment: Moment,
  ): CallResult & { readonly digest?: FeatureDigest } {
    if (call.kept && this.#known !== null) {
      this.#known = { ...this.#known, observedAt: moment.time };
      return this.#answer({ ...result, features: [] }, this.standing());
    }
    if (!whole) {
      return this.#known === null ? result : this.#answer({ ...result, features: [] }, this.standing());
    }
    const digest = digestOf(result.features);
    const before = this.#known;
    const changed = before === null ? null : before.digest !== digest;
    const included = changed !== false || this.#isDue(moment);
    const types = included ? [...new Set(result.features.map(({ type }) => type))].sort() : (before?.types ?? []);
    if (included) this.#sentAt = moment.monotonic;
    this.#fingerprint = call.said;
    this.#told ||= result.features.length > 0;
    // Of a value that is empty now, the types that were there before are what it says something about.
    const covered = types.length === 0 ? (before?.types ?? []) : types;
    this.#known = { types: covered, digest, changed, included, observedAt: moment.time };
    return this.#answer(included ? result : { ...result, features: [] }, this.#told ? this.#known : null);
  }

  #isDue({ monotonic, refresh }: Moment): boolean {
    return monotonic - this.#sentAt >= refresh;
  }

  #answer(result: CallResult, digest: FeatureDigest | null): CallResult & { readonly digest?: FeatureDigest } {
    return digest === null ? result : { ...result, digest };
  }
}

/** One call of a crawler that works by difference. */
class Call implements Pick<CrawlContext, "unchanged" | "fingerprint"> {
  readonly fingerprint: string | null;
  #said: string | null = null;
  #kept = false;

  constructor(fingerprint: string | null) {
    this.fingerprint = fingerprint;
  }

  readonly unchanged = (fingerprint: string): boolean => {
    this.#said = shortFingerprint(fingerprint);
    this.#kept = this.#said === this.fingerprint;
    return this.#kept;
  };

  /** It was told that nothing has changed. */
  get kept(): boolean {
    return this.#kept;
  }

  get said(): string | null {
    return this.#said;
  }
}

export type { Call as DifferenceCall };

function digestOf(features: readonly Feature[]): string {
  const hash = createHash("sha256");
  for (const { type, key, value } of features) hash.update(encode([type, key, value])).update("\n");
  return `sha256:${hash.digest("hex")}`;
}
