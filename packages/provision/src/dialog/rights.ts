import type { Cluster } from "../cluster/cluster.ts";
import { NAMESPACE_TYPE } from "../cluster/discovery.ts";
import { listOf, metadataOf } from "../cluster/read.ts";
import { parallel } from "../create/parallel.ts";
import { answerSchema } from "./schema.ts";
import type { Dialog, KindCount } from "./types.ts";

const AT_A_TIME = 8;
/** More make no list that anybody reads. */
const MOST_NAMESPACES = 500;

/**
 * Adds what the cluster says of a form: the namespaces that our credentials may list, and the kinds that they may not
 * create. Asks the server, creates nothing.
 * @param namespace Where the objects go; null where that is not chosen yet: then rights in one namespace are not known.
 */
export async function markRights(cluster: Cluster, dialog: Dialog, namespace: string | null): Promise<Dialog> {
  const creates: KindCount[] = [...dialog.creates];
  const [namespaces] = await Promise.all([
    listNamespaces(cluster),
    parallel([...dialog.creates.entries()], AT_A_TIME, async ([index, count]) => {
      creates[index] = { ...count, mayCreate: await mayCreate(cluster, count, namespace) };
    }),
  ]);
  const { title, description, fields } = dialog;
  return { ...dialog, creates, namespaces, schema: answerSchema(title, description, fields, namespaces) };
}

async function listNamespaces(cluster: Cluster): Promise<readonly string[] | null> {
  const outcome = await cluster.list(NAMESPACE_TYPE, null, { limit: MOST_NAMESPACES });
  if (!outcome.ok) return null;
  const there = listOf(outcome.object["items"])
    .map(metadataOf)
    .filter(({ deletedAt }) => deletedAt === null);
  return there.map(({ name }) => name).toSorted();
}

async function mayCreate(
  cluster: Cluster,
  { apiVersion, kind }: KindCount,
  namespace: string | null,
): Promise<boolean | null> {
  const type = await cluster.typeOf(apiVersion, kind);
  if (type === null || "ok" in type) return null;
  const allowed = await cluster.mayI("create", type, type.namespaced ? namespace : null);
  return allowed === false && type.namespaced && namespace === null ? null : allowed;
}
