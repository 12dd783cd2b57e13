import type { Cluster } from "../cluster/cluster.ts";
import { listOf, metadataOf, recordOf, textOf } from "../cluster/read.ts";
import type { ResourceType } from "../cluster/types.ts";
import { ownNamespaces } from "./namespaces.ts";
import type { Finding, PlannedObject } from "./types.ts";

const QUOTA_TYPE: ResourceType = {
  apiVersion: "v1",
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  namespaced: true,
};

/**
 * Counts the objects against the quotas of their namespaces. Only counts of objects are known before: what pods will
 * ask for is judged when they come.
 */
export async function checkQuota(cluster: Cluster, objects: readonly PlannedObject[]): Promise<readonly Finding[]> {
  const own = ownNamespaces(objects);
  const findings: Finding[] = [];
  const byNamespace = Map.groupBy(objects, ({ namespace }) => namespace ?? "");
  for (const [namespace, group] of byNamespace) {
    if (namespace === "" || own.has(namespace)) continue;
    const outcome = await cluster.list(QUOTA_TYPE, namespace);
    if (outcome.ok) findings.push(...listOf(outcome.object["items"]).flatMap((quota) => exceeded(quota, group)));
  }
  return findings;
}

/** What of one ResourceQuota the objects go beyond. */
export function exceeded(quota: unknown, objects: readonly PlannedObject[]): readonly Finding[] {
  const spec = recordOf(recordOf(quota)["spec"]);
  // A scoped quota counts some objects only.
  if (spec["scopes"] !== undefined || spec["scopeSelector"] !== undefined) return [];
  const status = recordOf(recordOf(quota)["status"]);
  const hard = recordOf(status["hard"] ?? spec["hard"]);
  const used = recordOf(status["used"]);
  const { name, namespace } = metadataOf(quota);
  return Object.entries(hard).flatMap(([key, limit]): Finding[] => {
    const counted = objects.filter(({ type, existing }) => !existing && keysOf(type).includes(key));
    const [most, now] = [count(limit), count(used[key] ?? "0")];
    const first = counted[Math.max(0, (most ?? 0) - (now ?? 0))];
    if (most === null || now === null || first === undefined || now + counted.length <= most) return [];
    const message = `quota ${name} of namespace ${namespace}: ${key} is limited to ${most}, ${now} are used and ${counted.length} more are asked for`;
    return [{ severity: "error", check: "quota", index: first.index, message }];
  });
}

function keysOf({ group, plural }: ResourceType): readonly string[] {
  return group === "" ? [plural, `count/${plural}`] : [`count/${plural}.${group}`];
}

/** Object counts are whole numbers, with a suffix only where they are large. */
function count(value: unknown): number | null {
  const text = textOf(value) ?? "";
  const [, digits = "", suffix = ""] = /^(\d+)(k|M)?$/.exec(text) ?? [];
  return digits === "" ? null : Number(digits) * (suffix === "k" ? 1_000 : suffix === "M" ? 1_000_000 : 1);
}
