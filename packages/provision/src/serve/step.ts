import type { Run } from "../journal/record.ts";
import type { TaskAction } from "./store.ts";

/** What is done with a run: nothing is left to do, it is worked on, or it cannot be. */
export type Step =
  | { readonly kind: "over" }
  | { readonly kind: "work"; readonly resumed: boolean }
  | { readonly kind: "undo" }
  | { readonly kind: "retire" }
  | { readonly kind: "refused"; readonly why: string };

/**
 * What an action means for a run in its present state. Asked for at any point, after a crash too: an action that was
 * carried out already is over, one in the middle goes on.
 * @param workable Its key is there: objects can still be created.
 */
export function stepOf(action: TaskAction, { state, rollback, instance }: Run, workable: boolean): Step {
  if (action === "retire") return state === "RETIRED" ? { kind: "over" } : { kind: "retire" };
  if (state === "FAILED" || state === "RETIRED") return { kind: "over" };
  if (action === "rollback") {
    return state === "SUCCEEDED"
      ? { kind: "refused", why: `instance ${instance} succeeded: retire it to remove it all the same` }
      : { kind: "undo" };
  }
  if (state === "SUCCEEDED") return { kind: "over" };
  if (state === "PARTIAL" && action === "work") return { kind: "over" };
  if (state === "ROLLING_BACK" || (state === "PARTIAL" && rollback === "incomplete")) return { kind: "undo" };
  if (!workable) return { kind: "refused", why: `the key of instance ${instance} is lost: it can only be rolled back` };
  return { kind: "work", resumed: state !== "PENDING" };
}
