import { formatFrame, MEDIA_TYPES } from "@trawler/format";
import { createSender, judge, type Sender } from "@trawler/http-client";
import {
  type Clock,
  defineEmitter,
  type Emitter,
  type Envelope,
  parseDuration,
  TrawlerError,
  type WriteResult,
} from "@trawler/plugin-api";
import { type Config, config } from "./config.ts";

export default defineEmitter({
  name: "http",
  description: "Posts frames to an HTTP or HTTPS address, as JSON lines or in another format, at least once.",
  config,
  create: (settings, { clock }) =>
    httpEmitter(settings, createSender(settings, parseDuration(settings.timeout) ?? 0), clock),
});

/** Halvings of one write: a receiver that refuses everything must not be asked about each frame. */
const MAX_SPLITS = 32;

/** A batch is one request; what a receiver refuses is halved, so that one frame does not take its neighbours with it. */
function httpEmitter(settings: Config, sender: Sender, clock: Clock): Emitter & AsyncDisposable {
  const { host } = new URL(settings.url);
  let notBefore = 0;

  async function post(
    envelopes: readonly Envelope[],
    splits: { left: number },
    signal: AbortSignal,
  ): Promise<Required<WriteResult>> {
    const bodies = envelopes.map(({ bytes }) => formatFrame(bytes, settings.format));
    const answer = await sender.post(Buffer.concat(bodies), MEDIA_TYPES[settings.format], signal);
    const verdict = judge(answer.status, answer.retryAfter, clock.now());
    const message = `${host} answered ${answer.status}${answer.text === "" ? "" : `: ${answer.text.slice(0, 200)}`}`;
    if (verdict.kind === "safe") return { rejected: [], retry: [] };
    if (verdict.kind === "later") {
      notBefore = clock.monotonic() + (verdict.pause ?? 0) / 1_000;
      throw new TrawlerError("TRAWLER_RETRY", message);
    }
    if (envelopes.length > 1 && splits.left > 0) {
      splits.left -= 1;
      return halves(envelopes, splits, signal);
    }
    const code = verdict.kind === "smaller" ? "TRAWLER_LIMIT" : "TRAWLER_REFUSED";
    return { rejected: envelopes.map(({ id }) => ({ id, code, message })), retry: [] };
  }

  async function halves(
    envelopes: readonly Envelope[],
    splits: { left: number },
    signal: AbortSignal,
  ): Promise<Required<WriteResult>> {
    const middle = Math.ceil(envelopes.length / 2);
    const first = await post(envelopes.slice(0, middle), splits, signal);
    const rest = envelopes.slice(middle);
    try {
      const second = await post(rest, splits, signal);
      return { rejected: [...first.rejected, ...second.rejected], retry: [...first.retry, ...second.retry] };
    } catch {
      // What became of the first half is known; the host asks again about the second.
      return { ...first, retry: [...first.retry, ...rest.map(({ id }) => id)] };
    }
  }

  return {
    async write(envelopes, { signal }) {
      if (envelopes.length === 0) return undefined;
      const pause = notBefore - clock.monotonic();
      if (pause > 0) {
        throw new TrawlerError("TRAWLER_RETRY", `${host} asked to be left alone for ${Math.ceil(pause)} s more`);
      }
      return post(envelopes, { left: MAX_SPLITS }, signal);
    },
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  };
}
