import { sleep } from "@trawler/kube";
import { errorCode, errorMessage } from "@trawler/plugin-api";
import { ownError } from "../cluster/error.ts";
import { metadataOf } from "../cluster/read.ts";
import { parallel } from "../create/parallel.ts";
import type { Context } from "../instance/context.ts";
import type { Item } from "../journal/record.ts";
import { titleOf } from "../report/names.ts";
import { readinessIn } from "./further.ts";
import { refreshed } from "./inventory.ts";
import type { Readiness } from "./readiness.ts";

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 2_000;

/** What is waited for: `inventory` = a running inventory has the very object, or else that it is there. */
export type Goal = "inventory" | "ready";

/**
 * Looks at each created object until it is there (`inventory`) or ready, with single GETs: never a list. True where all
 * reached it. An object that was deleted or replaced meanwhile has failed.
 */
export async function waitFor(context: Context, goal: Goal, deadline: AbortSignal): Promise<boolean> {
  const halt = AbortSignal.any([context.cancel, deadline]);
  const waited = context.items.filter(
    ({ status, awaited }) => status === "created" && (goal !== "ready" || awaited !== false),
  );
  const open = new Set(waited.map(({ index }) => index));
  let failed = false;
  for (const index of open) context.set(index, { ready: false, error: null });
  for (let pause = FIRST_PAUSE; open.size > 0 && !halt.aborted; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    await parallel([...open], context.run.settings.parallel, async (index) => {
      const readiness = await look(context, context.item(index), goal, halt);
      if (readiness.state === "ready") context.set(index, { ready: true, error: null });
      else
        context.set(index, { error: ownError(readiness.state === "failed" ? "NotReady" : "Waiting", readiness.why) });
      if (readiness.state !== "waiting") open.delete(index);
      if (readiness.state !== "failed") return;
      failed = true;
      context.setRun({ headline: `${titleOf(context.item(index))}: ${readiness.why}` });
    });
    if (failed) break;
    if (open.size > 0) await sleep(pause, halt);
  }
  const ready = waited.filter(({ index }) => context.item(index).ready === true).length;
  const timedOut = deadline.aborted && open.size > 0;
  context.setRun({ ready: { ready, total: waited.length, timedOut } });
  if (ready === waited.length) return true;
  const [first] = open;
  const item = first === undefined ? undefined : context.item(first);
  const why = context.cancel.aborted
    ? "cancelled"
    : `not ready in time${item === undefined ? "" : `: ${titleOf(item)}: ${item.error?.message ?? ""}`}`;
  context.setRun({ headline: why });
  return false;
}

async function look(context: Context, item: Item, goal: Goal, halt: AbortSignal): Promise<Readiness> {
  const kept = goal === "inventory" ? await inInventory(context, item, halt) : null;
  if (kept?.state === "ready") return kept;
  const outcome = await context.cluster.read(item.type, item.namespace, item.name ?? "");
  if (!outcome.ok) {
    if (outcome.error.code === 404) return { state: "failed", why: "it was deleted meanwhile" };
    if (outcome.error.code === 403) return { state: "failed", why: outcome.error.message };
    return { state: "waiting", why: outcome.error.message };
  }
  if (metadataOf(outcome.object).uid !== item.uid) return { state: "failed", why: "it was replaced meanwhile" };
  if (kept !== null || goal === "inventory") return kept ?? { state: "ready" };
  return readinessIn(context.cluster, item, outcome.object);
}

/** Null where no inventory runs that follows the kind: then a look at the object itself has to do. */
async function inInventory({ inventory }: Context, item: Item, halt: AbortSignal): Promise<Readiness | null> {
  if (inventory?.follows(item.type) !== true) return null;
  try {
    const uid = await refreshed(inventory, item, halt);
    return uid === item.uid ? { state: "ready" } : { state: "waiting", why: "the inventory does not have it yet" };
  } catch (error) {
    return errorCode(error) === "TRAWLER_UNAVAILABLE" ? null : { state: "waiting", why: errorMessage(error) };
  }
}
