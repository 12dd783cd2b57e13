import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** A ULID in lower case: it sorts by time, and may be a label. */
export function newInstance(now: number): string {
  let time = "";
  for (let rest = now, place = 0; place < 10; place++, rest = Math.floor(rest / 32))
    time = ALPHABET.charAt(rest % 32) + time;
  return time + [...randomBytes(16)].map((byte) => ALPHABET.charAt(byte % 32)).join("");
}

export function isInstance(text: string): boolean {
  return /^[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}
