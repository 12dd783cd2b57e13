/** What an answer means for the batch that was sent. */
export type Verdict =
  | { readonly kind: "safe" }
  /** The same may work later; not before `pause` milliseconds where the receiver said so. */
  | { readonly kind: "later"; readonly pause: number | null }
  /** Less at once may work. */
  | { readonly kind: "smaller" }
  /** It will never be taken. */
  | { readonly kind: "never" };

/** Longest time that a receiver may ask us to wait, milliseconds: the queue is bounded. */
const LONGEST_PAUSE = 300_000;

/**
 * RFC 9110: 2xx is success, whichever. 408, 425, 429 and 5xx may pass; so may 401, 403, 404 and a redirect once somebody
 * has mended the settings, and frames that wait are better than frames thrown away. Other refusals are about the frames.
 */
export function judge(status: number, retryAfter: string | null, now: number): Verdict {
  if (status >= 200 && status < 300) return { kind: "safe" };
  if (status === 413) return { kind: "smaller" };
  if (status >= 500 || status < 400 || [401, 403, 404, 407, 408, 421, 425, 429].includes(status)) {
    return { kind: "later", pause: parseRetryAfter(retryAfter, now) };
  }
  return { kind: "never" };
}

/** Seconds, or a date (RFC 9110, 10.2.3); null where there is none that can be read. */
export function parseRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  const pause = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isFinite(pause) ? Math.min(Math.max(pause, 0), LONGEST_PAUSE) : null;
}
