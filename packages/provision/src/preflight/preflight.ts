import type { Cluster } from "../cluster/cluster.ts";
import type { ProcessedObject } from "../template/types.ts";
import { dryRun } from "./dry-run.ts";
import { checkNamespaces } from "./namespaces.ts";
import { place } from "./place.ts";
import { checkQuota } from "./quota.ts";
import { checkRights } from "./rights.ts";
import type { Preflight, PreflightOptions } from "./types.ts";

/**
 * Everything that can be known before an object is created: kinds, namespaces, rights, quotas and the server's own
 * judgement. It creates nothing. All findings come together; the later checks are left out where an earlier one failed.
 */
export async function preflight(
  cluster: Cluster,
  processed: readonly ProcessedObject[],
  options: PreflightOptions,
): Promise<Preflight> {
  const { objects, findings } = await place(cluster, processed, options);
  const [namespaces, rights] = await Promise.all([
    checkNamespaces(cluster, objects),
    checkRights(cluster, objects, options.parallel),
  ]);
  const first = [...findings, ...namespaces, ...rights];
  if (first.some(({ severity }) => severity === "error")) return { objects, findings: first };
  const judged = await dryRun(cluster, objects, options);
  const planned = objects.map((object) => ({
    ...object,
    existing: judged.existing.has(object.index),
    uid: judged.existing.get(object.index) ?? null,
    unjudged: judged.unjudged.get(object.index) ?? null,
  }));
  return { objects: planned, findings: [...first, ...(await checkQuota(cluster, planned)), ...judged.findings] };
}
