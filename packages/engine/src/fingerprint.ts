import { createHash } from "node:crypto";

/** Longer ones are kept as their digest. */
const MAX_LENGTH = 256;

/** A crawler's fingerprint as it is kept and compared. */
export function shortFingerprint(fingerprint: string): string {
  const text = String(fingerprint);
  return text.length <= MAX_LENGTH ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
