import { sleep } from "@trawler/kube";
import { isAmbiguous, isRetryable, ownError } from "../cluster/error.ts";
import { metadataOf } from "../cluster/read.ts";
import type { Metadata, ObjectError } from "../cluster/types.ts";
import type { Context } from "../instance/context.ts";
import { backoff } from "./pace.ts";
import { settle } from "./settle.ts";

/** Requests for one object that came to nothing; those that the server asked to wait for do not count. */
const TRIES = 10;

/**
 * Creates one object, or says why not. `unsure`: an earlier request for it may have taken effect.
 *
 * An answer that leaves it open whether the object was made (none, or a 5xx) is settled by a look at the object: with
 * our marks it is ours, with others it is a conflict, absent it is asked for again.
 */
export async function createOne(context: Context, index: number, unsure: boolean, halt: AbortSignal): Promise<void> {
  const { cluster } = context;
  const body = context.sealed?.requests[index];
  if (body === undefined) throw new RangeError(`the journal has no request for object ${index}`);
  let last: ObjectError | null = null;
  let tries = 0;
  const startedAt = context.now();
  if (unsure) context.set(index, { status: "creating", startedAt, error: null });
  const fail = (error: ObjectError): void => context.set(index, { status: "failed", error, endedAt: context.now() });
  for (;;) {
    if (unsure) {
      const settled = await settle(context, index);
      if (settled.kind === "ours") return created(context, index, settled.metadata);
      if (settled.kind === "foreign") return fail(conflict(context, index));
      if (settled.kind === "unknown") {
        const error = last ?? settled.error;
        return context.set(index, { status: "unknown", error, uncertain: true, endedAt: context.now() });
      }
      unsure = false;
    }
    await context.pace.ready(halt);
    if (halt.aborted) return fail(last ?? stopped(context));
    if (tries++ >= TRIES) return fail(last ?? ownError("Timeout", "the server did not answer"));
    const { type, namespace, attempts, deferred } = context.item(index);
    context.set(index, { status: "creating", startedAt, error: null, attempts: attempts + 1 });
    const outcome = await cluster.create(type, namespace, body);
    if (outcome.ok) return created(context, index, metadataOf(outcome.object));
    const { error, retryAfter } = outcome;
    const taken = error.reason === "AlreadyExists";
    // A definition that is established may take a moment until each API server serves it.
    const notYet = deferred && error.code === 404;
    if (!taken && !notYet && !isRetryable(error)) return fail(error);
    // The name is taken: by ourselves after an answer that was lost, by a stranger, or by chance where it was generated.
    unsure = isAmbiguous(error) || (taken && context.item(index).name !== null);
    if (isAmbiguous(error)) context.set(index, { uncertain: true });
    if (!taken) last = error;
    const wait = retryAfter === null ? backoff(tries) : retryAfter * 1000;
    if (error.code === 429) {
      tries--;
      context.pace.hold(Math.max(wait, 100));
    } else if (!taken) await sleep(wait, halt);
  }
}

function created(context: Context, index: number, { uid, name, resourceVersion }: Metadata): void {
  const endedAt = context.now();
  context.set(index, { status: "created", uid, name, resourceVersion, error: null, uncertain: false, endedAt });
}

function conflict(context: Context, index: number): ObjectError {
  const { name } = context.item(index);
  return {
    code: 409,
    reason: "Conflict",
    message: `"${name}" exists and is not of this run; it is left alone`,
    causes: [],
  };
}

function stopped({ cancel }: Context): ObjectError {
  return cancel.aborted ? ownError("Cancelled", "cancelled") : ownError("Timeout", "the time for creation is over");
}
