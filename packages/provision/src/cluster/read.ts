import type { Metadata } from "./types.ts";

/** Readers of foreign JSON: what has another type is the neutral value. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function numberOf(value: unknown, fallback = 0): number {
  return typeof value === "number" ? value : fallback;
}

export function metadataOf(object: unknown): Metadata {
  const meta = recordOf(recordOf(object)["metadata"]);
  return {
    uid: textOf(meta["uid"]) ?? "",
    name: textOf(meta["name"]) ?? "",
    namespace: textOf(meta["namespace"]),
    resourceVersion: textOf(meta["resourceVersion"]),
    generation: numberOf(meta["generation"]),
    createdAt: textOf(meta["creationTimestamp"]) ?? "",
    deletedAt: textOf(meta["deletionTimestamp"]),
    labels: recordOf(meta["labels"]),
    annotations: recordOf(meta["annotations"]),
    finalizers: Array.isArray(meta["finalizers"]) ? meta["finalizers"].filter((one) => typeof one === "string") : [],
    owners: listOf(meta["ownerReferences"]).map((owner) => textOf(owner["uid"]) ?? ""),
  };
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string | null;
  readonly message: string | null;
}

export function conditionsOf(object: unknown): readonly Condition[] {
  return listOf(recordOf(recordOf(object)["status"])["conditions"]).map((condition) => ({
    type: textOf(condition["type"]) ?? "",
    status: textOf(condition["status"]) ?? "",
    reason: textOf(condition["reason"]),
    message: textOf(condition["message"]),
  }));
}
