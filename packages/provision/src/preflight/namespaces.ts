import type { Cluster } from "../cluster/cluster.ts";
import { NAMESPACE_TYPE } from "../cluster/discovery.ts";
import { metadataOf } from "../cluster/read.ts";
import type { Finding, PlannedObject } from "./types.ts";

/** Namespaces that the objects themselves bring. */
export function ownNamespaces(objects: readonly PlannedObject[]): ReadonlySet<string> {
  return new Set(objects.flatMap(({ type, name }) => (type.kind === "Namespace" && name !== null ? [name] : [])));
}

/** Whether each namespace is there and stays. */
export async function checkNamespaces(
  cluster: Cluster,
  objects: readonly PlannedObject[],
): Promise<readonly Finding[]> {
  const own = ownNamespaces(objects);
  const used = Map.groupBy(
    objects.filter(({ namespace }) => namespace !== null && !own.has(namespace)),
    ({ namespace }) => namespace ?? "",
  );
  const findings: Finding[] = [];
  for (const [namespace, [first]] of used) {
    const outcome = await cluster.read(NAMESPACE_TYPE, null, namespace);
    const index = first?.index ?? null;
    if (outcome.ok) {
      if (metadataOf(outcome.object).deletedAt === null) continue;
      findings.push({
        severity: "error",
        check: "namespace",
        index,
        message: `namespace ${namespace} is being deleted`,
      });
    } else if (outcome.error.code === 404) {
      const message = `there is no namespace ${namespace}; make it, or have it made by --create-namespace`;
      findings.push({ severity: "error", check: "namespace", index, message });
    } else if (outcome.error.code !== 403) {
      findings.push({ severity: "error", check: "server", index, message: outcome.error.message });
    }
  }
  return findings;
}
