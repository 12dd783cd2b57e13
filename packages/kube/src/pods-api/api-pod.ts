import { timeOfNanos } from "../cri/time.ts";
import type { RawObject } from "../reflector/event.ts";

/** Fields that are a time on the wire (seconds and nanoseconds) and a text in JSON. */
const TIMES: ReadonlySet<string> = new Set([
  "creationTimestamp",
  "deletionTimestamp",
  "lastTransitionTime",
  "startTime",
  "startedAt",
  "finishedAt",
]);
/** Messages that JSON writes into their parent. */
const EMBEDDED: ReadonlySet<string> = new Set(["volumeSource", "ephemeralContainerCommon"]);
const QUANTITIES: ReadonlySet<string> = new Set(["limits", "requests"]);
const MAPS: ReadonlySet<string> = new Set(["labels", "annotations"]);

/** Turns a decoded v1.Pod into the JSON that the API server would give for the same fields. */
export function apiPodOf(decoded: object): RawObject {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(decoded)) {
    // The encoder writes empty texts where JSON has nothing.
    if (value === "" || value === null || value === undefined) continue;
    if (EMBEDDED.has(key)) Object.assign(out, apiPodOf(value));
    else out[key] = jsonOf(key, value);
  }
  return out;
}

function jsonOf(key: string, value: unknown): unknown {
  if (TIMES.has(key)) return timeOf(value);
  if (key === "generation") return Number(value);
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? apiPodOf(item) : item));
  if (!isObject(value)) return value;
  if (MAPS.has(key)) return Object.assign(Object.create(null), value);
  if (QUANTITIES.has(key)) {
    const quantities = Object.entries(value).map(([name, quantity]) => [name, isObject(quantity) ? quantity : {}]);
    return Object.fromEntries(quantities.map(([name, quantity]) => [name, Reflect.get(Object(quantity), "string")]));
  }
  return apiPodOf(value);
}

function timeOf(value: unknown): string | null {
  if (!isObject(value)) return null;
  const seconds = Reflect.get(value, "seconds");
  return typeof seconds === "string" && /^\d{1,11}$/.test(seconds)
    ? (timeOfNanos(`${seconds}000000000`)?.replace(".000Z", "Z") ?? null)
    : null;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
