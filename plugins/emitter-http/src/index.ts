import { formatFrame, MEDIA_TYPES, nameBy } from "@trawler/format";
import { createDelivery, createSender } from "@trawler/http-client";
import { defineEmitter, parseDuration } from "@trawler/plugin-api";
import { config } from "./config.ts";

export default defineEmitter({
  name: "http",
  description: "Posts frames to an HTTP or HTTPS address, as JSON lines or in another format, at least once.",
  config,
  create(settings, { clock }) {
    const { url, format, name, timeout } = settings;
    const nameOf = nameBy(name);
    const sender = createSender(settings, parseDuration(timeout) ?? 0);
    return {
      write: createDelivery({
        host: new URL(url).host,
        clock,
        post: (envelopes, signal) =>
          sender.post(
            Buffer.concat(envelopes.map(({ bytes }) => formatFrame(bytes, format, nameOf))),
            MEDIA_TYPES[format],
            signal,
          ),
      }),
      [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
    };
  },
});
