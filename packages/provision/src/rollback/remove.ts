import { sleep } from "@trawler/kube";
import { isRetryable, ownError } from "../cluster/error.ts";
import { metadataOf } from "../cluster/read.ts";
import type { Metadata, ObjectError, Outcome } from "../cluster/types.ts";
import { backoff } from "../create/pace.ts";
import type { Context } from "../instance/context.ts";
import type { Item } from "../journal/record.ts";

/** Kinds whose deletion must take along what they made: the server's own default would leave a Job's pods behind. */
const OWNERS = [
  "Deployment",
  "StatefulSet",
  "DaemonSet",
  "ReplicaSet",
  "ReplicationController",
  "Job",
  "CronJob",
  "DeploymentConfig",
  "BuildConfig",
  "Build",
];
const TRIES = 12;
const LONGEST_POLL = 1_000;

export type Removal =
  | { readonly kind: "gone" }
  /** Another object has the name. */
  | { readonly kind: "replaced" }
  | { readonly kind: "left"; readonly error: ObjectError };

/** An object, and the uid that makes it that very one. */
type Target = Pick<Item, "type" | "namespace" | "name" | "uid">;

/** Deletes exactly the object that this run made, and waits until it is gone. */
export async function remove(context: Context, item: Target, deadline: AbortSignal): Promise<Removal> {
  const { cluster } = context;
  const { type, namespace, name, uid } = item;
  if (name === null || uid === null) return { kind: "gone" };
  for (let attempt = 1; ; attempt++) {
    const policy = OWNERS.includes(type.kind) ? "Foreground" : "Background";
    const outcome: Outcome = await cluster.remove(type, namespace, name, uid, policy);
    if (outcome.ok) break;
    const { error, retryAfter } = outcome;
    if (error.code === 404) return { kind: "gone" };
    if (error.code === 409) {
      const now = await cluster.read(type, namespace, name);
      if (now.ok && metadataOf(now.object).uid !== uid) return { kind: "replaced" };
      if (!now.ok && now.error.code === 404) return { kind: "gone" };
    } else if (!isRetryable(error)) return { kind: "left", error };
    if (attempt >= TRIES || deadline.aborted) return { kind: "left", error };
    await sleep(retryAfter === null ? backoff(attempt) : retryAfter * 1000, deadline);
  }
  return gone(context, item, name, deadline);
}

async function gone({ cluster }: Context, item: Target, name: string, deadline: AbortSignal): Promise<Removal> {
  let seen: Metadata | null = null;
  for (let pause = 50; ; pause = Math.min(pause * 1.6, LONGEST_POLL)) {
    const outcome = await cluster.read(item.type, item.namespace, name);
    if (!outcome.ok && outcome.error.code === 404) return { kind: "gone" };
    if (outcome.ok) {
      seen = metadataOf(outcome.object);
      if (seen.uid !== item.uid) return { kind: "replaced" };
    } else if (!isRetryable(outcome.error)) return { kind: "left", error: outcome.error };
    if (deadline.aborted) break;
    await sleep(pause, deadline);
  }
  const finalizers = seen?.finalizers ?? [];
  const why =
    finalizers.length === 0 ? "it is being deleted" : `it is being deleted and waits for ${finalizers.join(", ")}`;
  return { kind: "left", error: ownError("Terminating", why) };
}
