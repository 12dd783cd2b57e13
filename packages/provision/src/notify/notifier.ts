import type { Logger } from "@trawler/plugin-api";

/** A notification on its way. Attempts send the same bytes. */
export interface Outgoing {
  readonly id: string;
  readonly instance: string;
  /** JSON of a Notification. */
  readonly body: string;
}

/** Whether it was taken. `retryAfter`: milliseconds that the receiver asks to wait; null where it does not. */
export type Delivery =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: string; readonly retryAfter: number | null };

/** A receiver of notifications. */
export interface Notifier {
  /** Its place in the outbox: the same in every process. */
  readonly name: string;
  /** One attempt. Never rejects; ends soon after the signal aborts. `why` holds no credential. */
  send(outgoing: Outgoing, signal: AbortSignal): Promise<Delivery>;
}

/** Tells the log. */
export function logNotifier(log: Logger): Notifier {
  return {
    name: "log",
    send: async ({ id, body }) => {
      const { instance, state, template, namespace, headline } = JSON.parse(body);
      log.info(
        { notification: id, instance, state, template, namespace, headline },
        `instance ${instance} is ${state}`,
      );
      return { ok: true };
    },
  };
}
