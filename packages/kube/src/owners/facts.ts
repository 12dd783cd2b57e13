import type { Resource } from "@trawler/plugin-api";
import { isRecord } from "../api/errors.ts";
import { object, objects, text } from "../pods/read.ts";
import type { OwnerReference } from "../pods/record.ts";

/** What is known of the controllers above a pod. Never a guess: a name alone says nothing. */
export interface OwnerFacts {
  /** `k8s.replicaset.name` and the like. */
  readonly resource: Resource;
  /** False while a level above may exist that is not known (yet). */
  readonly complete: boolean;
  /** Why it is not complete. */
  readonly reason: string | null;
  /** RFC 3339 of the lookup that found the upper level; null where the pod's own reference says all. */
  readonly observedAt: string | null;
}

/** Owners with a level above that is worth a question. */
export interface OwnerLookup {
  readonly resource: "replicasets" | "jobs";
  readonly group: "apps" | "batch";
}

const ATTRIBUTES: Readonly<Record<string, string>> = {
  "apps/ReplicaSet": "k8s.replicaset",
  "apps/Deployment": "k8s.deployment",
  "apps/StatefulSet": "k8s.statefulset",
  "apps/DaemonSet": "k8s.daemonset",
  "batch/Job": "k8s.job",
  "batch/CronJob": "k8s.cronjob",
};

const LOOKUPS: Readonly<Record<string, OwnerLookup>> = {
  "apps/ReplicaSet": { resource: "replicasets", group: "apps" },
  "batch/Job": { resource: "jobs", group: "batch" },
};

function kindOf(owner: OwnerReference): string {
  return `${owner.apiVersion.split("/")[0]}/${owner.kind}`;
}

/** The one owner that controls; null where none does. */
export function controllerOf(owners: readonly OwnerReference[]): OwnerReference | null {
  return owners.find((owner) => owner.controller) ?? null;
}

export function lookupOf(owner: OwnerReference): OwnerLookup | null {
  return LOOKUPS[kindOf(owner)] ?? null;
}

/** The attributes of one owner; empty for kinds that the conventions do not name. */
export function ownerAttributes(owner: OwnerReference): Resource {
  const prefix = ATTRIBUTES[kindOf(owner)];
  return prefix === undefined ? {} : { [`${prefix}.name`]: owner.name, [`${prefix}.uid`]: owner.uid };
}

/** The controller that an object's PartialObjectMetadata names. `undefined` = it is another object than `uid`. */
export function parseController(body: unknown, uid: string): OwnerReference | null | undefined {
  const metadata = object(isRecord(body) ? body["metadata"] : null);
  if (metadata["uid"] !== uid) return undefined;
  const raw = objects(metadata["ownerReferences"], 16).find((owner) => owner["controller"] === true);
  const kind = text(raw?.["kind"], 256);
  const name = text(raw?.["name"], 256);
  const ownerUid = text(raw?.["uid"], 256);
  if (kind === null || name === null || ownerUid === null) return null;
  return { apiVersion: text(raw?.["apiVersion"], 256) ?? "", kind, name, uid: ownerUid, controller: true };
}
