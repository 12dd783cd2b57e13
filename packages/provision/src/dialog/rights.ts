import type { Cluster } from "../cluster/cluster.ts";
import { parallel } from "../create/parallel.ts";
import type { Dialog, KindCount } from "./types.ts";

const AT_A_TIME = 8;

/**
 * Marks the kinds of a form that our credentials may not create. Asks the server, creates nothing.
 * @param namespace Where the objects go; null where that is not chosen yet: then rights in one namespace are not known.
 */
export async function markRights(cluster: Cluster, dialog: Dialog, namespace: string | null): Promise<Dialog> {
  const creates: KindCount[] = [...dialog.creates];
  await parallel([...dialog.creates.entries()], AT_A_TIME, async ([index, count]) => {
    creates[index] = { ...count, mayCreate: await mayCreate(cluster, count, namespace) };
  });
  return { ...dialog, creates };
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
