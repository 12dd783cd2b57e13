import { listOf, metadataOf, recordOf } from "../cluster/read.ts";
import type { ResourceType } from "../cluster/types.ts";
import type { Context } from "../instance/context.ts";
import type { Item, Leftover } from "../journal/record.ts";
import { leftover } from "../report/names.ts";
import { remove } from "./remove.ts";

const type = (group: string, version: string, kind: string, plural: string): ResourceType => ({
  apiVersion: group === "" ? version : `${group}/${version}`,
  group,
  version,
  kind,
  plural,
  namespaced: true,
});
/** From owners to what they own, so that one pass finds a whole chain. */
const CHILDREN = [
  type("batch", "v1", "Job", "jobs"),
  type("apps", "v1", "ReplicaSet", "replicasets"),
  type("", "v1", "Pod", "pods"),
];
const PARENTS = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob"];
const CLAIMS = type("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims");

/**
 * What controllers made of our objects and what still lives after those are gone. It is told, and by policy `deep`
 * removed where a chain of owners leads to our objects; claims of a StatefulSet have no owner and are only told.
 */
export async function childrenLeft(
  context: Context,
  removed: readonly Item[],
  deadline: AbortSignal,
): Promise<readonly Leftover[]> {
  const parents = removed.filter(({ type: { kind } }) => PARENTS.includes(kind));
  const places = new Set(parents.flatMap(({ namespace }) => (namespace === null ? [] : [namespace])));
  const found: Leftover[] = [];
  for (const place of places) {
    const here = parents.filter(({ namespace }) => namespace === place);
    found.push(...(await owned(context, place, here, deadline)), ...(await claims(context, place, here)));
  }
  return found;
}

async function owned(
  context: Context,
  place: string,
  parents: readonly Item[],
  deadline: AbortSignal,
): Promise<readonly Leftover[]> {
  const { cluster, run } = context;
  const uids = new Set(parents.flatMap(({ uid }) => (uid === null ? [] : [uid])));
  const found: Leftover[] = [];
  for (const child of CHILDREN) {
    const outcome = await cluster.list(child, place);
    if (!outcome.ok) continue;
    for (const object of listOf(outcome.object["items"])) {
      const { uid, name, owners, deletedAt } = metadataOf(object);
      if (!owners.some((owner) => uids.has(owner))) continue;
      uids.add(uid);
      if (deletedAt !== null) continue;
      const orphan = { type: child, namespace: place, name, uid };
      if (run.settings.rollback === "deep") {
        context.log(`removes the orphan ${child.kind} ${place}/${name}`);
        if ((await remove(context, orphan, deadline)).kind !== "left") continue;
      }
      found.push(leftover(child, place, name, uid, "orphan: its owner was of this run"));
    }
  }
  return found;
}

/** Claims that a StatefulSet made from its templates have no owner: their names tell. */
async function claims(
  { cluster, sealed }: Context,
  place: string,
  parents: readonly Item[],
): Promise<readonly Leftover[]> {
  const sets = parents.filter(({ type: { kind } }) => kind === "StatefulSet");
  if (sets.length === 0) return [];
  const prefixes = sets.flatMap(({ index, name }) => {
    const body: unknown = JSON.parse(sealed?.requests[index] ?? "null");
    const templates = listOf(recordOf(recordOf(body)["spec"])["volumeClaimTemplates"]);
    return templates.map((template) => `${metadataOf(template).name}-${name}-`);
  });
  const outcome = prefixes.length === 0 ? null : await cluster.list(CLAIMS, place);
  if (outcome === null || !outcome.ok) return [];
  return listOf(outcome.object["items"])
    .map(metadataOf)
    .filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length))))
    .map(({ name, uid }) => leftover(CLAIMS, place, name, uid, "made by a StatefulSet of this run; it may hold data"));
}
