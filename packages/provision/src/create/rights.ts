import { sleep } from "@trawler/kube";
import type { Context } from "../instance/context.ts";
import type { Item } from "../journal/record.ts";

/** Milliseconds in which rights that come with a new namespace must have come. */
const PATIENCE = 5_000;
const POLL = 250;

/**
 * Asks again for the rights in namespaces that the run has just made: some clusters give them to whoever makes one. What
 * may not be created there has failed, all of it together, before a request for it is sent. True where all is allowed.
 */
export async function stillAllowed(context: Context, made: readonly Item[], halt: AbortSignal): Promise<boolean> {
  const namespaces = new Set(
    made.filter(({ type: { kind, group } }) => kind === "Namespace" && group === "").map(({ name }) => name),
  );
  if (namespaces.size === 0) return true;
  const inside = context.items.filter(({ namespace, status }) => namespaces.has(namespace) && status !== "created");
  const groups = Map.groupBy(inside, ({ type, namespace }) => JSON.stringify([type.group, type.plural, namespace]));
  const until = AbortSignal.any([halt, AbortSignal.timeout(PATIENCE)]);
  const denied = await Promise.all(
    [...groups.values()].map(async (group) => ((await mayCreate(context, group[0], until)) ? [] : group)),
  );
  for (const item of denied.flat()) {
    const { type, namespace, index } = item;
    const message = `our credentials may not create ${type.plural} in namespace ${namespace}, which this run has made`;
    context.set(index, { status: "failed", error: { code: 403, reason: "Forbidden", message, causes: [] } });
    context.setRun({ headline: message });
  }
  return denied.flat().length === 0;
}

async function mayCreate({ cluster }: Context, item: Item | undefined, until: AbortSignal): Promise<boolean> {
  if (item === undefined) return true;
  for (;;) {
    if ((await cluster.mayI("create", item.type, item.namespace)) !== false) return true;
    if (until.aborted) return false;
    await sleep(POLL, until);
  }
}
