import { createHmac } from "node:crypto";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { Delivery, Notifier, Outgoing } from "./notifier.ts";

export interface WebhookOptions {
  readonly url: string;
  /** Reads the secret that signs each request; null: they are not signed. Read each time, as it may be rotated. */
  readonly secret: (() => Promise<string>) | null;
  /** Milliseconds for one attempt. */
  readonly timeout?: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly fetch?: typeof fetch;
}

const TIMEOUT = 10_000;
/** Longest Retry-After that is believed. */
const LONGEST_WAIT = 3_600_000;

/**
 * POSTs each notification as JSON. Headers and signature are those of the Standard Webhooks specification
 * (`webhook-id`, `webhook-timestamp`, `webhook-signature`), so that its libraries can check them. Redirects are not
 * followed: any answer but 2xx is a failure.
 * @throws TrawlerError TRAWLER_CONFIG_INVALID where the URL is none for HTTP, or carries a user.
 */
export function webhookNotifier({
  url,
  secret,
  timeout = TIMEOUT,
  now,
  fetch: send = fetch,
}: WebhookOptions): Notifier {
  const target = URL.parse(url);
  if (target === null || !["http:", "https:"].includes(target.protocol))
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", "the webhook's URL is no http or https URL");
  if (target.username !== "" || target.password !== "")
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", "the webhook's URL carries a user; sign with a secret instead");
  const attempt = async ({ id, body }: Outgoing, signal: AbortSignal): Promise<Delivery> => {
    const timestamp = String(Math.floor(now() / 1000));
    const key = secret === null ? null : await secret();
    const response = await send(target, {
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
      headers: {
        "content-type": "application/json",
        "user-agent": "trawler-provision",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        ...(key === null ? {} : { "webhook-signature": signatureOf(key, id, timestamp, body) }),
      },
      body,
    });
    // What it says does not matter, and may have no end.
    await response.body?.cancel();
    if (response.ok) return { ok: true };
    return {
      ok: false,
      why: `HTTP ${response.status}`,
      retryAfter: waitOf(response.headers.get("retry-after"), now()),
    };
  };
  return {
    name: "webhook",
    send: (outgoing, signal) =>
      attempt(outgoing, signal).catch((error: unknown) => ({ ok: false, why: reasonOf(error), retryAfter: null })),
  };
}

/** `whsec_…` holds the key in base64; any other text is the key itself. */
export function signatureOf(secret: string, id: string, timestamp: string, body: string): string {
  const text = secret.trim();
  const key = text.startsWith("whsec_") ? Buffer.from(text.slice("whsec_".length), "base64") : Buffer.from(text);
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}

/** Milliseconds of a Retry-After in seconds or as a date; null where there is none. */
function waitOf(header: string | null, now: number): number | null {
  if (header === null) return null;
  const wait = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(wait) ? null : Math.min(Math.max(wait, 0), LONGEST_WAIT);
}

/** fetch hides the reason in `cause`. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return "no answer in time";
  const cause = error instanceof Error ? error.cause : undefined;
  return errorCode(cause) ?? errorCode(error) ?? errorMessage(cause ?? error);
}
