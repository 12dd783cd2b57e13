import { readFile } from "node:fs/promises";
import { makeKafka } from "@trawler/inventory";
import { errorMessage, type Logger } from "@trawler/plugin-api";
import { logNotifier, NOTIFICATION_SCHEMA, type Notifier, webhookNotifier } from "@trawler/provision";
import type { World } from "../../world.ts";
import type { NotifyKafka, ServeSettings } from "./serve/settings.ts";

/** The log, and whom the settings name. */
export function notifiersOf({ notify }: ServeSettings, log: Logger, { clock }: World): readonly Notifier[] {
  const { webhook, kafka } = notify;
  const notifiers = [logNotifier(log)];
  if (webhook !== undefined) {
    const { url, secretFile } = webhook;
    const secret = secretFile === undefined ? null : () => readFile(secretFile, "utf8");
    notifiers.push(webhookNotifier({ url, secret, now: clock.now }));
  }
  if (kafka !== undefined) notifiers.push(kafkaNotifier(kafka, log));
  return notifiers;
}

/** Writes to a topic, keyed by instance. A client for each attempt: runs end rarely, and brokers and passwords change. */
function kafkaNotifier(settings: NotifyKafka, log: Logger): Notifier {
  return {
    name: "kafka",
    send: async ({ id, instance, body }) => {
      try {
        const kafka = await makeKafka(settings, (text) => log.debug({}, text));
        const producer = kafka.producer({ allowAutoTopicCreation: false, idempotent: true, maxInFlightRequests: 1 });
        try {
          await producer.connect();
          const headers = {
            "trawler-schema": NOTIFICATION_SCHEMA,
            "trawler-notification-id": id,
            "content-type": "application/json",
          };
          await producer.send({
            topic: settings.topic,
            acks: -1,
            messages: [{ key: instance, value: body, headers }],
          });
        } finally {
          await producer.disconnect();
        }
        return { ok: true };
      } catch (error) {
        return { ok: false, why: errorMessage(error), retryAfter: null };
      }
    },
  };
}
