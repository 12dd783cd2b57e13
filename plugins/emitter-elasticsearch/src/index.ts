import { createDelivery, createSender, readText } from "@trawler/http-client";
import { defineEmitter, parseDuration } from "@trawler/plugin-api";
import { FILTER, readAnswer } from "./answer.ts";
import { type Config, config } from "./config.ts";
import { bulkOf } from "./documents.ts";

/** An answer is some 30 bytes for a document that was taken; a reason may take hundreds. */
const MAX_ANSWER = 8 * 1_048_576;

export default defineEmitter({
  name: "elasticsearch",
  description: "Indexes frames in Elasticsearch or OpenSearch by their bulk API, each document once.",
  config,
  create(settings, { clock }) {
    const sender = createSender(settings, parseDuration(settings.timeout) ?? 0, MAX_ANSWER);
    const url = `${settings.url.replace(/\/+$/, "")}/_bulk?filter_path=${FILTER}`;
    /** Documents of each envelope of the request that was made last. */
    let counts: readonly number[] = [];
    return {
      write: createDelivery({
        host: new URL(url).host,
        clock,
        async post(envelopes, signal) {
          const bulks = envelopes.map((envelope) => bulkOf(envelope, settings));
          counts = bulks.map(({ count }) => count);
          const body = Buffer.from(bulks.map(({ text }) => text).join(""));
          const headers = await authorization(settings);
          return sender.send({ url, body, mediaType: "application/x-ndjson", headers }, signal);
        },
        read: (answer, envelopes) => readAnswer(answer, envelopes, counts),
      }),
      [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
    };
  },
});

async function authorization({ basic, apiKey, apiKeyFile }: Config): Promise<Record<string, string>> {
  const key = apiKey ?? (apiKeyFile === undefined ? null : (await readText(apiKeyFile)).trim());
  if (key !== null) return { authorization: `ApiKey ${key}` };
  if (basic === undefined) return {};
  const { username, password, passwordFile } = basic;
  const secret = password ?? (passwordFile === undefined ? "" : (await readText(passwordFile)).replace(/\r?\n$/, ""));
  return { authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString("base64")}` };
}
