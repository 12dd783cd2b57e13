import type { StringMap } from "@trawler/plugin-api";

export interface MapCaps {
  /** Bytes of one value, and of all keys and values together. */
  readonly value: number;
  readonly total: number;
}

/** The bounds of frame version 1. */
export const LABEL_CAPS: MapCaps = { value: 4 * 1024, total: 64 * 1024 };
export const ANNOTATION_CAPS: MapCaps = { value: 4 * 1024, total: 64 * 1024 };

/** Stands at the end of a value that was cut. */
export const CUT_MARK = "…[truncated]";
/** Key that counts the entries for which there was no room. */
export const DROPPED_KEY = "trawler.dev/dropped";

const NEVER = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);
const MAX_KEY = 1024;

/**
 * Copies a map of foreign keys into one without prototype and with bounded size: long values are cut and marked, what
 * does not fit is counted under `trawler.dev/dropped`. Not strings = left out.
 */
export function boundedMap(source: unknown, caps: MapCaps): { readonly map: StringMap; readonly cut: number } {
  const map: Record<string, string> = Object.create(null);
  if (typeof source !== "object" || source === null || Array.isArray(source)) return { map, cut: 0 };
  let room = caps.total;
  let shortened = 0;
  let dropped = 0;
  for (const key in source) {
    const value: unknown = Object.hasOwn(source, key) ? Reflect.get(source, key) : undefined;
    if (typeof value !== "string" || NEVER.has(key)) continue;
    const kept = cutText(value, caps.value);
    const size = Buffer.byteLength(key) + Buffer.byteLength(kept);
    if (size > room || key.length > MAX_KEY) {
      dropped += 1;
      continue;
    }
    if (kept !== value) shortened += 1;
    room -= size;
    map[key] = kept;
  }
  if (dropped > 0) map[DROPPED_KEY] = String(dropped);
  return { map, cut: shortened + dropped };
}

/** At most so many bytes of UTF-8, the mark included; a character is never split. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = Math.min(bytes.length, maxBytes - Buffer.byteLength(CUT_MARK));
  // Inside a character: go back to its first byte.
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return bytes.toString("utf8", 0, end) + CUT_MARK;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
