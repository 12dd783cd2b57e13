import { sleep } from "@trawler/kube";
import { isRetryable } from "../cluster/error.ts";
import { INSTANCE_LABEL, isOurs } from "../cluster/marks.ts";
import { listOf, metadataOf } from "../cluster/read.ts";
import type { Metadata, ObjectError } from "../cluster/types.ts";
import type { Context } from "../instance/context.ts";
import type { Item } from "../journal/record.ts";
import { backoff } from "./pace.ts";

export type Settled =
  | { readonly kind: "ours"; readonly metadata: Metadata }
  | { readonly kind: "absent" }
  | { readonly kind: "foreign" }
  | { readonly kind: "unknown"; readonly error: ObjectError };

/** Tries of one question; with the pauses between them about a minute. */
const TRIES = 16;

/** Finds out whether this run made the object: by its name or, where the server names it, by its marks. */
export async function settle(context: Context, index: number): Promise<Settled> {
  const { signal } = new AbortController();
  for (let attempt = 1; ; attempt++) {
    const item = context.item(index);
    const answer = item.name === null ? await byMarks(context, item) : await byName(context, item, item.name);
    if (answer.kind !== "unknown" || !isRetryable(answer.error) || attempt >= TRIES) return answer;
    await sleep(backoff(attempt), signal);
  }
}

async function byName({ cluster, run }: Context, item: Item, name: string): Promise<Settled> {
  const outcome = await cluster.read(item.type, item.namespace, name);
  if (outcome.ok) {
    const ours = isOurs(outcome.object, run.instance, item.index);
    return ours ? { kind: "ours", metadata: metadataOf(outcome.object) } : { kind: "foreign" };
  }
  return outcome.error.code === 404 ? { kind: "absent" } : { kind: "unknown", error: outcome.error };
}

async function byMarks(context: Context, item: Item): Promise<Settled> {
  const { cluster, run } = context;
  const outcome = await cluster.list(item.type, item.namespace, { labelSelector: `${INSTANCE_LABEL}=${run.instance}` });
  if (!outcome.ok) return outcome.error.code === 404 ? { kind: "absent" } : { kind: "unknown", error: outcome.error };
  const ours = listOf(outcome.object["items"])
    .filter((object) => isOurs(object, run.instance, item.index))
    .map(metadataOf)
    .sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.uid.localeCompare(b.uid));
  const [oldest, ...doubles] = ours;
  // A first request that took effect late: one object was asked for.
  for (const { name, uid } of doubles) {
    context.log(`removes the double ${item.type.kind} ${name}`);
    await cluster.remove(item.type, item.namespace, name, uid, "Background");
  }
  return oldest === undefined ? { kind: "absent" } : { kind: "ours", metadata: oldest };
}
