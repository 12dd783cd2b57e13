import { isRecord } from "@trawler/kube";

/** What the Events of a pod tell of it. */
export interface ToldPod {
  readonly namespace: string | null;
  readonly name: string;
  readonly node: string | null;
  /** Each once, in order; bounded. */
  readonly reasons: readonly string[];
  /** Latest time of an Event, by the server's clock, milliseconds; null where none is given. */
  readonly lastAt: number | null;
}

/** A static pod's Events name a hash of its file instead of its UID. */
const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MOST_REASONS = 8;
const MOST_PODS = 100_000;

/** Adds what one Event (`v1`, of a Pod) tells to what is known by UID. */
export function tellingEvents(told: Map<string, ToldPod>, event: Readonly<Record<string, unknown>>): void {
  const involved = isRecord(event["involvedObject"]) ? event["involvedObject"] : {};
  const source = isRecord(event["source"]) ? event["source"] : {};
  const { uid, kind } = involved;
  const name = text(involved["name"]);
  if (kind !== "Pod" || name === null || typeof uid !== "string" || !UID.test(uid)) return;
  const known = told.get(uid);
  if (known === undefined && told.size >= MOST_PODS) return;
  const reason = text(event["reason"]);
  const reasons = known?.reasons ?? [];
  const isNew = reason !== null && reasons.length < MOST_REASONS && !reasons.includes(reason);
  const times = [known?.lastAt, time(event["lastTimestamp"]), time(event["eventTime"])].filter((at) => at != null);
  told.set(uid, {
    namespace: text(involved["namespace"]),
    name,
    // Only a kubelet's host is the pod's node.
    node: known?.node ?? (source["component"] === "kubelet" ? text(source["host"]) : null),
    reasons: isNew ? [...reasons, reason] : reasons,
    lastAt: times.length === 0 ? null : Math.max(...times),
  });
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, 256) : null;
}

function time(value: unknown): number | null {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
