import { isRecord } from "../api/errors.ts";
import type { RawObject } from "../reflector/event.ts";
import { cutText } from "./bounded-map.ts";

/** Readers of foreign JSON: what has not the expected type is null or empty, never an error. */

/** A text that is not empty, cut at a bound. */
export function text(value: unknown, maxBytes = 1024): string | null {
  return typeof value === "string" && value !== "" ? cutText(value, maxBytes) : null;
}

export function integer(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}

/** A time that can be read, as it was written. */
export function time(value: unknown): string | null {
  return typeof value === "string" && value.length <= 64 && !Number.isNaN(Date.parse(value)) ? value : null;
}

export function object(value: unknown): RawObject {
  return isRecord(value) ? value : EMPTY;
}

/** The objects of a list, at most `max`. */
export function objects(value: unknown, max: number): readonly RawObject[] {
  return Array.isArray(value) ? value.slice(0, max).filter(isRecord) : [];
}

const EMPTY: RawObject = Object.freeze({});
