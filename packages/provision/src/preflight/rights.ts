import type { Cluster } from "../cluster/cluster.ts";
import { parallel } from "../create/parallel.ts";
import { ownNamespaces } from "./namespaces.ts";
import type { Finding, PlannedObject } from "./types.ts";

/**
 * Asks whether we may create each kind where it is to be, and delete it again. Rights in a namespace that the run makes
 * may come with it: they are asked for again then.
 */
export async function checkRights(
  cluster: Cluster,
  objects: readonly PlannedObject[],
  limit: number,
): Promise<readonly Finding[]> {
  const groups = Map.groupBy(objects, ({ type, namespace }) => JSON.stringify([type.group, type.plural, namespace]));
  const questions = [...groups.values()].flatMap((group) =>
    ["create", "get", "delete"].map((verb) => ({ verb, first: group[0], count: group.length })),
  );
  const own = ownNamespaces(objects);
  const findings: Finding[] = [];
  await parallel(questions, limit, async ({ verb, first, count }) => {
    if (first === undefined) return;
    const { type, namespace, index } = first;
    const allowed = await cluster.mayI(verb, type, namespace);
    if (allowed !== false) return;
    const where = namespace === null ? "" : ` in namespace ${namespace}`;
    const need = `our credentials may not ${verb} ${type.plural}${type.group === "" ? "" : `.${type.group}`}${where}`;
    const objectsHere = count === 1 ? "1 object" : `${count} objects`;
    const later = namespace !== null && own.has(namespace);
    if (later && verb !== "create") return;
    if (later) {
      const message = `${need} (${objectsHere}); it is asked again once this run has made the namespace`;
      findings.push({ severity: "warning", check: "rights", index, message });
      return;
    }
    findings.push(
      verb === "create"
        ? { severity: "error", check: "rights", index, message: `${need} (${objectsHere})` }
        : {
            severity: "warning",
            check: "rights",
            index,
            message: `${need}: a rollback of ${objectsHere} is not possible`,
          },
    );
  });
  return findings.sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
}
