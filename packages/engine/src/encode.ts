import type { Frame } from "@trawler/plugin-api";

/** One frame as it is sent: whole, or one of its parts. */
export interface Encoded {
  readonly frame: Frame;
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();

// ES2026; typed by no library yet. Both supported versions of Node have it.
const rawJson: (text: string) => unknown = Reflect.get(JSON, "rawJSON");

/** A frame or a part of one as UTF-8 JSON, one encoding for all emitters; integers beyond 2^53−1 stay exact. */
export function encode(value: unknown): Uint8Array {
  return encoder.encode(stringify(value));
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Only a bigint can be at fault in a sanitised frame. A replacer is slow, so it is used for these alone.
    return JSON.stringify(value, (_, item) => (typeof item === "bigint" ? rawJson(item.toString()) : item));
  }
}
