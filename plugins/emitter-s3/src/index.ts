import { randomUUID } from "node:crypto";
import { nameBy, parseFrame } from "@trawler/format";
import { createSender } from "@trawler/http-client";
import {
  type Clock,
  defineEmitter,
  type Emitter,
  type Envelope,
  parseDuration,
  TrawlerError,
} from "@trawler/plugin-api";
import { explain } from "./answer.ts";
import { type Config, config } from "./config.ts";
import { credentialsOf } from "./credentials.ts";
import { addressOf, contentOf, keyOf } from "./object.ts";
import { sign } from "./sign.ts";

/** Bytes of an error document that are read. */
const MAX_ANSWER = 8_192;

export default defineEmitter({
  name: "s3",
  description: "Stores each batch of frames as an object in S3 or another object store that speaks its protocol.",
  config,
  create: (settings, { clock }) => s3Emitter(settings, clock),
});

function s3Emitter(settings: Config, clock: Clock): Emitter & AsyncDisposable {
  const { headers, timeout, tls } = settings;
  const { origin } = addressOf(settings, "");
  const sender = createSender(
    { url: origin, headers: {}, compression: "none", timeout, tls, tokenFile: undefined },
    parseDuration(timeout) ?? 0,
    MAX_ANSWER,
  );
  const nameOf = nameBy(settings.name);
  const instance = randomUUID().slice(0, 13);
  let sequence = 0;
  /** Stays the same until its batch is safe: a retry writes over what an earlier try may have left. */
  let key: string | null = null;

  function nextKey({ node, bytes }: Envelope): string {
    const written = Date.parse(parseFrame(bytes).time);
    const time = Number.isFinite(written) ? written : clock.now();
    return keyOf(settings, { node, instance, sequence: ++sequence, time });
  }

  return {
    async write(envelopes, { signal }) {
      const [first] = envelopes;
      if (first === undefined) return undefined;
      const { body, mediaType } = await contentOf(envelopes, settings, nameOf);
      key ??= nextKey(first);
      const { host, path } = addressOf(settings, key);
      const signed = sign(
        {
          method: "PUT",
          host,
          path,
          region: settings.region,
          headers: { ...headers, "content-type": mediaType },
          body,
        },
        await credentialsOf(settings),
        clock.now(),
      );
      const answer = await sender.send(
        { method: "PUT", url: `${origin}${path}`, headers: signed, mediaType, body },
        signal,
      );
      const { kind, message } = explain(answer);
      if (kind === "later") throw new TrawlerError("TRAWLER_RETRY", `${host}${path} answered ${message}`);
      key = null;
      if (kind === "safe") return undefined;
      const refusal = { code: "TRAWLER_REFUSED", message: `${host}${path} answered ${message}` };
      return { rejected: envelopes.map(({ id }) => ({ id, ...refusal })) };
    },
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  };
}
