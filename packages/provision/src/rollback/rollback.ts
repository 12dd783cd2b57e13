import { parallel } from "../create/parallel.ts";
import { settle } from "../create/settle.ts";
import { inWaves } from "../create/waves.ts";
import type { Context } from "../instance/context.ts";
import type { Item, Leftover, RollbackResult } from "../journal/record.ts";
import { leftover } from "../report/names.ts";
import { childrenLeft } from "./children.ts";
import { reasonToKeep } from "./keep.ts";
import { remove } from "./remove.ts";

/**
 * Deletes what this run provably made, the last wave first, and nothing else: each deletion names the uid. It may be
 * ended and run again at any point. What cannot be removed is left and told.
 */
export async function rollBack(context: Context, signal: AbortSignal): Promise<RollbackResult> {
  await settleAll(context);
  const { parallel: limit, rollbackTimeout } = context.run.settings;
  const candidates = context.items.filter(isCandidate);
  const waves = inWaves(candidates.filter(({ uid }) => uid !== null));
  for (const wave of waves.toReversed()) {
    await parallel(
      wave,
      limit,
      async ({ index }) => {
        const deadline = AbortSignal.any([signal, AbortSignal.timeout(rollbackTimeout)]);
        await undo(context, index, deadline);
      },
      () => signal.aborted,
    );
  }
  const removed = candidates.map(({ index }) => context.item(index)).filter(({ status }) => status === "rolledBack");
  const leftovers = [
    ...leftoversOf(context.items),
    ...(await childrenLeft(context, removed, AbortSignal.any([signal, AbortSignal.timeout(rollbackTimeout)]))),
  ];
  context.setRun({ leftovers });
  return leftovers.length === 0 ? "complete" : "incomplete";
}

function isCandidate({ status }: Item): boolean {
  return status === "created" || status === "rollbackFailed" || status === "kept";
}

/**
 * An object whose request had no answer, or was cut by the end of a process, is looked for: only then is it ours. What
 * is still planned here was so in the file that another process left: a loss of power takes the last of it along.
 */
async function settleAll(context: Context): Promise<void> {
  const open = context.items.filter(
    ({ status, uncertain }) =>
      status === "planned" || status === "creating" || status === "unknown" || (status === "failed" && uncertain),
  );
  await parallel(open, context.run.settings.parallel, async ({ index, status, error }) => {
    const settled = await settle(context, index);
    if (settled.kind === "ours") {
      const { uid, name, resourceVersion } = settled.metadata;
      context.set(index, { status: "created", uid, name, resourceVersion, uncertain: false });
    } else if (settled.kind === "unknown") context.set(index, { status: "unknown", error: settled.error });
    else if (status !== "failed")
      context.set(index, { status: error === null ? "skipped" : "failed", uncertain: false });
  });
}

async function undo(context: Context, index: number, deadline: AbortSignal): Promise<void> {
  const item = context.item(index);
  const reason = await reasonToKeep(context, item, deadline);
  if (reason !== null) {
    context.set(index, { status: "kept", error: { code: null, reason: "Kept", message: reason, causes: [] } });
    return;
  }
  const removal = await remove(context, item, deadline);
  // What went wrong before stays told: the object's own failure is why it was undone.
  if (removal.kind === "gone") context.set(index, { status: "rolledBack", error: null });
  else if (removal.kind === "replaced") context.set(index, { status: "replaced", error: null });
  else context.set(index, { status: "rollbackFailed", error: removal.error });
}

/** Objects of this run that may still be in the cluster. */
export function leftoversOf(items: readonly Item[]): readonly Leftover[] {
  return items.flatMap((item) => {
    const { status, type, namespace, name, generateName, uid, error } = item;
    if (!["created", "unknown", "kept", "rollbackFailed"].includes(status)) return [];
    const why = status === "created" ? "it was created and is not removed" : (error?.message ?? status);
    return [leftover(type, namespace, name ?? `${generateName}…`, uid, why)];
  });
}
