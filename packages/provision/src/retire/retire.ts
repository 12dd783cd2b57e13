import { INSTANCE_LABEL } from "../cluster/marks.ts";
import { listOf, metadataOf } from "../cluster/read.ts";
import type { Context } from "../instance/context.ts";
import type { Item, Report } from "../journal/record.ts";
import { titleOf } from "../report/names.ts";
import { rollBack } from "../rollback/rollback.ts";

/**
 * Removes all that a run made, by the rules of a rollback. Objects that carry the run's label and are not in its journal
 * are told and left alone.
 */
export async function retire(context: Context, signal: AbortSignal): Promise<Report> {
  const strangers = await labelled(context);
  context.setRun({ state: "ROLLING_BACK", warnings: [...context.run.warnings, ...strangers] });
  const result = await rollBack(context, signal);
  const state = result === "complete" ? "RETIRED" : "PARTIAL";
  context.setRun({ state, rollback: result, endedAt: context.now() });
  context.journal.forget();
  return { ...context.run, objects: context.items };
}

/** Differences between the journal and what the label finds. */
async function labelled({ cluster, run, items }: Context): Promise<readonly string[]> {
  const known = new Set(items.map(({ uid }) => uid));
  const asked = new Set<string>();
  const found: string[] = [];
  const lost: string[] = [];
  for (const { type, namespace } of items) {
    const key = keyOf({ type, namespace });
    if (asked.has(key)) continue;
    asked.add(key);
    const outcome = await cluster.list(type, namespace, { labelSelector: `${INSTANCE_LABEL}=${run.instance}` });
    if (!outcome.ok) continue;
    const labelledHere = listOf(outcome.object["items"]);
    const uids = new Set(labelledHere.map((object) => metadataOf(object).uid));
    const here = items.filter((item) => item.status === "created" && keyOf(item) === key);
    lost.push(
      ...here
        .filter(({ uid }) => uid !== null && !uids.has(uid))
        .map((item) => `${titleOf(item)} is in the journal of this run and its label does not find it`),
    );
    for (const object of labelledHere) {
      const { uid, name, owners } = metadataOf(object);
      if (known.has(uid) || owners.length > 0) continue;
      found.push(`${type.kind} ${name} has the label of this run and is not in its journal: left alone`);
    }
  }
  return [...found, ...lost];
}

function keyOf({ type, namespace }: Pick<Item, "type" | "namespace">): string {
  return JSON.stringify([type.group, type.plural, namespace]);
}
