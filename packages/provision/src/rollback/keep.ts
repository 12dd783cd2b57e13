import { sleep } from "@trawler/kube";
import { definedTypes } from "../cluster/discovery.ts";
import { INSTANCE_LABEL } from "../cluster/marks.ts";
import { listOf, metadataOf, recordOf, textOf } from "../cluster/read.ts";
import type { ResourceType } from "../cluster/types.ts";
import type { Context } from "../instance/context.ts";
import type { Item, ItemStatus } from "../journal/record.ts";
import { titleOf } from "../report/names.ts";

const POLL = 500;
const LEFT: readonly ItemStatus[] = ["created", "unknown", "kept", "rollbackFailed"];

/** Why an object of ours is better left where it is; null where nothing stands against its deletion. */
export async function reasonToKeep(context: Context, item: Item, deadline: AbortSignal): Promise<string | null> {
  const { kind, group } = item.type;
  if (kind === "PersistentVolumeClaim") return volume(context, item);
  if (kind === "Namespace" && group === "") return namespace(context, item, deadline);
  if (kind === "CustomResourceDefinition") return definition(context, item);
  return null;
}

/** A claim that was bound may hold data. */
async function volume({ cluster, run }: Context, { type, namespace: place, name, uid }: Item): Promise<string | null> {
  if (!run.settings.keepData) return null;
  const outcome = await cluster.read(type, place, name ?? "");
  if (!outcome.ok || metadataOf(outcome.object).uid !== uid) return null;
  const bound = textOf(recordOf(outcome.object["spec"])["volumeName"]) ?? "";
  return bound === "" ? null : `it was bound to volume ${bound} and may hold data`;
}

/** What of this run is left among those that would be taken along: a volume with data, an object that will not go. */
function stillHeld({ items }: Context, holds: (item: Item) => boolean): string | null {
  const left = items.find((item) => LEFT.includes(item.status) && holds(item));
  return left === undefined ? null : `it holds ${titleOf(left)}, which is left`;
}

/** A definition takes all objects of its kind along. */
async function definition(context: Context, { type, name, uid }: Item): Promise<string | null> {
  const { cluster, run } = context;
  const held = stillHeld(context, (item) => `${item.type.plural}.${item.type.group}` === name);
  if (held !== null) return held;
  const outcome = await cluster.read(type, null, name ?? "");
  if (!outcome.ok || metadataOf(outcome.object).uid !== uid) return null;
  for (const own of definedTypes(outcome.object).slice(0, 1)) {
    const others = await cluster.list(own, null, { labelSelector: `${INSTANCE_LABEL}!=${run.instance}`, limit: 1 });
    if (!others.ok && others.error.code === 404) continue;
    if (!others.ok) return `it is not known whether other objects of its kind exist: ${others.error.message}`;
    if (listOf(others.object["items"]).length > 0) return "objects of its kind exist that are not of this run";
  }
  return null;
}

/** A namespace takes along all that lies in it. What has an owner, or is being deleted, gets time to go first. */
async function namespace(context: Context, { name, type, uid }: Item, deadline: AbortSignal): Promise<string | null> {
  const held = stillHeld(context, (item) => item.namespace === name);
  if (held !== null) return held;
  const now = await context.cluster.read(type, null, name ?? "");
  if (!now.ok || metadataOf(now.object).uid !== uid) return null;
  const types = await context.cluster.namespacedTypes();
  if ("ok" in types) return "it is not known what it holds";
  for (;;) {
    const found = await foreigner(context, name ?? "", types);
    if (found === null) return null;
    if (!found.transient || deadline.aborted) return `it holds ${found.title}, which is not of this run`;
    await sleep(POLL, deadline);
  }
}

interface Foreigner {
  readonly title: string;
  /** It will go by itself. */
  readonly transient: boolean;
}

async function foreigner(
  { cluster, run }: Context,
  place: string,
  types: readonly ResourceType[],
): Promise<Foreigner | null> {
  let transient: Foreigner | null = null;
  for (const type of types) {
    if (type.kind === "Event") continue;
    const outcome = await cluster.list(type, place, { labelSelector: `${INSTANCE_LABEL}!=${run.instance}`, limit: 50 });
    if (!outcome.ok && outcome.error.code === 404) continue;
    if (!outcome.ok) return { title: `${type.plural} that cannot be listed`, transient: false };
    for (const object of listOf(outcome.object["items"])) {
      const { name, deletedAt, owners } = metadataOf(object);
      if (isSystemOwn(type, name)) continue;
      const found = { title: `${type.kind} ${name}`, transient: deletedAt !== null || owners.length > 0 };
      if (!found.transient) return found;
      transient = found;
    }
  }
  return transient;
}

/** What every namespace gets from the cluster itself. */
function isSystemOwn({ kind }: ResourceType, name: string): boolean {
  if (kind === "ServiceAccount") return ["default", "builder", "deployer"].includes(name);
  if (kind === "ConfigMap") return ["kube-root-ca.crt", "openshift-service-ca.crt"].includes(name);
  // Tokens and pull secrets of those accounts, and the roles that OpenShift binds to them.
  if (kind === "Secret") return /^(default|builder|deployer)-(token|dockercfg)-/.test(name);
  return kind === "RoleBinding" && name.startsWith("system:");
}
