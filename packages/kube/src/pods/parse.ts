import type { Condition } from "@trawler/plugin-api";
import type { RawObject } from "../reflector/event.ts";
import { ANNOTATION_CAPS, boundedMap, LABEL_CAPS } from "./bounded-map.ts";
import { parseContainerSpecs, parseContainerStatus, rawStatuses } from "./container.ts";
import { integer, object, objects, text, time } from "./read.ts";
import type { DownwardItem, OwnerReference, PodRecord } from "./record.ts";

const MAX_VOLUMES = 256;
const MAX_ITEMS = 64;
const MAX_OWNERS = 16;
const MAX_CONDITIONS = 64;
const MAX_ADDRESSES = 16;

/** Reads a v1.Pod as anyone may have written it. Null where it has no uid, namespace or name. */
export function parsePod(pod: RawObject): PodRecord | null {
  const metadata = object(pod["metadata"]);
  const spec = object(pod["spec"]);
  const status = object(pod["status"]);
  const uid = text(metadata["uid"], 256);
  const namespace = text(metadata["namespace"], 256);
  const name = text(metadata["name"], 256);
  if (uid === null || namespace === null || name === null) return null;
  const labels = boundedMap(metadata["labels"], LABEL_CAPS);
  const annotations = boundedMap(metadata["annotations"], ANNOTATION_CAPS);
  const statuses = rawStatuses(status);
  const marks = object(metadata["annotations"]);
  const source = marks["kubernetes.io/config.source"];
  return {
    uid,
    namespace,
    name,
    resourceVersion: text(metadata["resourceVersion"], 64),
    generation: integer(metadata["generation"]),
    createdAt: time(metadata["creationTimestamp"]),
    deletedAt: time(metadata["deletionTimestamp"]),
    labels: labels.map,
    annotations: annotations.map,
    cut: labels.cut + annotations.cut,
    owners: objects(metadata["ownerReferences"], MAX_OWNERS)
      .map(parseOwner)
      .filter((owner) => owner !== null),
    nodeName: text(spec["nodeName"], 256),
    serviceAccount: text(spec["serviceAccountName"], 256),
    restartPolicy: restartPolicy(spec["restartPolicy"]),
    hostNetwork: spec["hostNetwork"] === true,
    configHash: configHash(marks["kubernetes.io/config.hash"]),
    static: "kubernetes.io/config.mirror" in marks || source === "file" || source === "http",
    containers: parseContainerSpecs(spec, statuses),
    statuses: [...statuses].map(([container, raw]) => parseContainerStatus(container, raw)),
    downward: parseDownward(spec),
    qosClass: text(status["qosClass"], 64),
    startTime: time(status["startTime"]),
    phase: text(status["phase"], 64),
    reason: text(status["reason"]),
    conditions: objects(status["conditions"], MAX_CONDITIONS)
      .map(parseCondition)
      .filter((condition) => condition !== null),
    podIps: addresses(status["podIPs"], status["podIP"]),
    hostIps: addresses(status["hostIPs"], status["hostIP"]),
  };
}

function parseOwner(raw: RawObject): OwnerReference | null {
  const kind = text(raw["kind"], 256);
  const name = text(raw["name"], 256);
  const uid = text(raw["uid"], 256);
  if (kind === null || name === null || uid === null) return null;
  return { apiVersion: text(raw["apiVersion"], 256) ?? "", kind, name, uid, controller: raw["controller"] === true };
}

/** Hexadecimal as the kubelet makes it, so that no annotation can claim another pod's UID. */
function configHash(value: unknown): string | null {
  return typeof value === "string" && /^[0-9a-f]{32}$/.test(value) ? value : null;
}

function restartPolicy(value: unknown): PodRecord["restartPolicy"] {
  return value === "Always" || value === "OnFailure" || value === "Never" ? value : null;
}

function parseCondition(raw: RawObject): Condition | null {
  const type = text(raw["type"], 316);
  if (type === null) return null;
  const state = text(raw["status"], 64) ?? "Unknown";
  return { type, status: state, reason: text(raw["reason"]), since: time(raw["lastTransitionTime"]) };
}

function addresses(list: unknown, single: unknown): readonly string[] {
  const found = objects(list, MAX_ADDRESSES).map((entry) => text(entry["ip"], 64));
  const first = text(single, 64);
  const all = found.length > 0 ? found : [first];
  return all.filter((address) => address !== null);
}

function parseDownward(spec: RawObject): readonly DownwardItem[] {
  const items: DownwardItem[] = [];
  for (const volume of objects(spec["volumes"], MAX_VOLUMES)) {
    const name = text(volume["name"], 256);
    if (name === null) continue;
    collect(items, name, false, object(volume["downwardAPI"]));
    for (const source of objects(object(volume["projected"])["sources"], MAX_ITEMS)) {
      collect(items, name, true, object(source["downwardAPI"]));
    }
  }
  return items;
}

function collect(items: DownwardItem[], volume: string, projected: boolean, source: RawObject): void {
  for (const item of objects(source["items"], MAX_ITEMS)) {
    const path = text(item["path"], 4096);
    const field = text(object(item["fieldRef"])["fieldPath"], 512);
    if (path !== null && field !== null) items.push({ volume, projected, path, field });
  }
}
