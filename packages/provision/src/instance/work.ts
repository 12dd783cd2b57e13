import { createAll } from "../create/all.ts";
import type { Report, RollbackPolicy, RunState } from "../journal/record.ts";
import { conclude } from "../report/outcome.ts";
import { leftoversOf, rollBack } from "../rollback/rollback.ts";
import { collectEvidence } from "../wait/evidence.ts";
import { handOver } from "../wait/inventory.ts";
import { waitFor } from "../wait/wait.ts";
import type { Context } from "./context.ts";

export interface WorkOptions {
  /** An earlier process began it. */
  readonly resumed: boolean;
  /** Asked where the policy is `ask`. Default: no. */
  readonly ask?: () => Promise<boolean>;
}

/** Creates, waits, and undoes where it must. Returns when the run is over, and never throws for what a server does. */
export async function work(context: Context, { resumed, ask }: WorkOptions): Promise<Report> {
  const { settings, state } = context.run;
  if (state === "ROLLING_BACK") return undo(context);
  context.setRun({
    state: "CREATING",
    endedAt: null,
    headline: null,
    rollback: "notNeeded",
    leftovers: [],
    evidence: [],
  });
  const created = await createAll(context, resumed, AbortSignal.timeout(settings.createTimeout));
  // Where it is waited for, that is the hand-over.
  if (created && settings.until !== "inventory") await handOver(context);
  let reached = created;
  if (created && settings.until !== "created") {
    context.setRun({ state: "WAITING" });
    reached = await waitFor(context, settings.until, AbortSignal.timeout(settings.readyTimeout));
  }
  if (reached) return finish(context, true, null);
  context.setRun({ evidence: await collectEvidence(context) });
  // What is all there and only not ready yet is more often mended than undone.
  const policy: RollbackPolicy = settings.rollback ?? (created && !context.cancel.aborted ? "never" : "auto");
  const wanted =
    policy === "auto" || policy === "deep" || (policy === "ask" && anythingLeft(context) && (await (ask?.() ?? false)));
  return wanted && anythingLeft(context) ? undo(context) : finish(context, false, null);
}

/** Rolls back, and says what is left. */
export async function undo(context: Context, signal: AbortSignal = new AbortController().signal): Promise<Report> {
  context.setRun({ state: "ROLLING_BACK" });
  return finish(context, false, await rollBack(context, signal));
}

function finish(context: Context, reached: boolean, result: Awaited<ReturnType<typeof rollBack>> | null): Report {
  const rollback = result === "complete" || result === "incomplete" ? result : null;
  const end = conclude({ items: context.items, reached, rollback });
  const leftovers = rollback === null && !reached ? leftoversOf(context.items) : reached ? [] : context.run.leftovers;
  // What came too late to stop it was no failure.
  context.setRun({ ...end, ...(reached && { headline: null }), leftovers, endedAt: context.now() });
  if (isFinal(end.state)) context.journal.forget();
  return { ...context.run, objects: context.items };
}

function anythingLeft({ items }: Context): boolean {
  return items.some(({ status, uncertain }) => status === "created" || status === "unknown" || uncertain);
}

/** Nothing of it will be created any more. */
function isFinal(state: RunState): boolean {
  return state === "SUCCEEDED" || state === "FAILED" || state === "RETIRED";
}
