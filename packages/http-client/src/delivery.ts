import { type CallContext, type Clock, type Envelope, TrawlerError, type WriteResult } from "@trawler/plugin-api";
import { judge } from "./answer.ts";
import type { Answer } from "./sender.ts";

export interface DeliveryOptions {
  /** Who is asked, for messages. */
  readonly host: string;
  readonly clock: Clock;
  /** Makes one request of these. */
  readonly post: (envelopes: readonly Envelope[], signal: AbortSignal) => Promise<Answer>;
  /**
   * What an answer of success says of each envelope; null where it is known only for fewer at once. Absent: all are safe.
   */
  readonly read?: (answer: Answer, envelopes: readonly Envelope[]) => Required<WriteResult> | null;
}

export type Delivery = (envelopes: readonly Envelope[], context: CallContext) => Promise<WriteResult | undefined>;

/** Halvings of one write: a receiver that refuses everything must not be asked about each frame. */
const MAX_SPLITS = 32;
const SAFE: Required<WriteResult> = { rejected: [], retry: [] };

/**
 * An emitter's `write` over HTTP: a batch is one request; what a receiver refuses is halved, so that one frame does not
 * take its neighbours with it. A receiver that asks to be left alone is, for as long as it asks.
 */
export function createDelivery({ host, clock, post, read = () => SAFE }: DeliveryOptions): Delivery {
  let notBefore = 0;

  async function deliver(
    envelopes: readonly Envelope[],
    splits: { left: number },
    signal: AbortSignal,
  ): Promise<Required<WriteResult>> {
    const answer = await post(envelopes, signal);
    const verdict = judge(answer.status, answer.retryAfter, clock.now());
    const message = `${host} answered ${answer.status}${answer.text === "" ? "" : `: ${answer.text.slice(0, 200)}`}`;
    if (verdict.kind === "later") {
      notBefore = clock.monotonic() + (verdict.pause ?? 0) / 1_000;
      throw new TrawlerError("TRAWLER_RETRY", message);
    }
    const result = verdict.kind === "safe" ? read(answer, envelopes) : null;
    if (result !== null) return result;
    if (envelopes.length > 1 && splits.left > 0) {
      splits.left -= 1;
      return halves(envelopes, splits, signal);
    }
    const code = verdict.kind === "never" ? "TRAWLER_REFUSED" : "TRAWLER_LIMIT";
    return { rejected: envelopes.map(({ id }) => ({ id, code, message })), retry: [] };
  }

  async function halves(
    envelopes: readonly Envelope[],
    splits: { left: number },
    signal: AbortSignal,
  ): Promise<Required<WriteResult>> {
    const middle = Math.ceil(envelopes.length / 2);
    const first = await deliver(envelopes.slice(0, middle), splits, signal);
    const rest = envelopes.slice(middle);
    try {
      const second = await deliver(rest, splits, signal);
      return { rejected: [...first.rejected, ...second.rejected], retry: [...first.retry, ...second.retry] };
    } catch {
      // What became of the first half is known; the host asks again about the second.
      return { ...first, retry: [...first.retry, ...rest.map(({ id }) => id)] };
    }
  }

  return async (envelopes, { signal }) => {
    if (envelopes.length === 0) return undefined;
    const pause = notBefore - clock.monotonic();
    if (pause > 0) {
      throw new TrawlerError("TRAWLER_RETRY", `${host} asked to be left alone for ${Math.ceil(pause)} s more`);
    }
    return deliver(envelopes, { left: MAX_SPLITS }, signal);
  };
}
