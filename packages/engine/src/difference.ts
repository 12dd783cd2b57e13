import { createHash } from "node:crypto";
import type { CrawlContext, Feature, FeatureDigest } from "@trawler/plugin-api";
import type { CallResult } from "./crawl-one.ts";
import { encode } from "./encode.ts";
import { shortFingerprint } from "./fingerprint.ts";

/** When a call is made, and from when on a value that was sent is due again. */
export interface Moment {
  /** RFC 3339. */
  readonly time: string;
  /** Seconds. */
  readonly monotonic: number;
  /** Seconds. */
  readonly refresh: number;
}

export type DifferenceResult = CallResult & { readonly digest?: FeatureDigest };

interface Known {
  readonly types: readonly string[];
  readonly digest: string;
  readonly fingerprint: string | null;
  /** RFC 3339: when it was last read, or found unchanged. */
  readonly observedAt: string;
  /** Seconds: when the features stood in a frame. */
  readonly sentAt: number;
  /** Something was found once: then that nothing is found any more is worth telling. */
  readonly told: boolean;
}

/** What is kept of one crawler that works by difference on one target: never its features. */
export class Difference {
  #known: Known | null = null;

  begin(moment: Moment): DifferenceCall {
    const known = this.#known;
    const due = known === null || moment.monotonic - known.sentAt >= moment.refresh;
    return new DifferenceCall(known?.fingerprint ?? null, due, (call, result, whole) =>
      this.#settle(moment, call, result, whole),
    );
  }

  /** What a frame says between two calls, or where one could not be made whole; null where nothing is known. */
  standing(): FeatureDigest | null {
    return this.#say(false, false);
  }

  #settle(moment: Moment, { due, said, kept }: DifferenceCall, result: CallResult, whole: boolean): DifferenceResult {
    const known = this.#known;
    if (known !== null && (kept || !whole)) {
      if (kept) this.#known = { ...known, observedAt: moment.time };
      return withDigest({ ...result, features: [] }, this.standing());
    }
    if (!whole) return result;
    const { features } = result;
    const digest = digestOf(features);
    const changed = known === null ? null : known.digest !== digest;
    const included = due || changed !== false;
    const types = [...new Set(features.map(({ type }) => type))].sort();
    this.#known = {
      // Of what is empty now, the types that were there before say what has gone.
      types: types.length === 0 ? (known?.types ?? []) : types,
      digest,
      fingerprint: said,
      observedAt: moment.time,
      sentAt: included ? moment.monotonic : (known?.sentAt ?? moment.monotonic),
      told: (known?.told ?? false) || features.length > 0,
    };
    return withDigest(included ? result : { ...result, features: [] }, this.#say(changed, included));
  }

  #say(changed: boolean | null, included: boolean): FeatureDigest | null {
    if (this.#known === null || !this.#known.told) return null;
    const { types, digest, observedAt } = this.#known;
    return { types, digest, changed, included, observedAt };
  }
}

type Settle = (call: DifferenceCall, result: CallResult, whole: boolean) => DifferenceResult;

/** One call of a crawler that works by difference. */
export class DifferenceCall implements Pick<CrawlContext, "unchanged" | "fingerprint"> {
  readonly fingerprint: string | null;
  /** The whole value has to be sent. */
  readonly due: boolean;
  readonly #settle: Settle;
  #said: string | null = null;

  constructor(fingerprint: string | null, due: boolean, settle: Settle) {
    this.fingerprint = due ? null : fingerprint;
    this.due = due;
    this.#settle = settle;
  }

  readonly unchanged = (fingerprint: string): boolean => {
    this.#said = shortFingerprint(fingerprint);
    return this.kept;
  };

  get said(): string | null {
    return this.#said;
  }

  /** It was told that nothing has changed. */
  get kept(): boolean {
    return this.#said !== null && this.#said === this.fingerprint;
  }

  /** Leaves the features in the result only where they are news, or due. One that is not whole changes nothing. */
  settle(result: CallResult, whole: boolean): DifferenceResult {
    return this.#settle(this, result, whole);
  }
}

function withDigest(result: CallResult, digest: FeatureDigest | null): DifferenceResult {
  return digest === null ? result : { ...result, digest };
}

function digestOf(features: readonly Feature[]): string {
  const hash = createHash("sha256");
  for (const { type, key, value } of features) hash.update(encode([type, key, value])).update("\n");
  return `sha256:${hash.digest("hex")}`;
}
