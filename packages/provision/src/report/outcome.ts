import type { Item, RollbackResult, RunState } from "../journal/record.ts";

export interface Facts {
  readonly items: readonly Pick<Item, "status">[];
  /** All objects are there, and what was waited for came. */
  readonly reached: boolean;
  /** Null where none was run. */
  readonly rollback: "complete" | "incomplete" | null;
}

/**
 * The end of a run. SUCCEEDED: the goal was reached. FAILED: it was not, and nothing of the run is left. PARTIAL: it was
 * not, and something of it is in the cluster, or may be.
 */
export function conclude({ items, reached, rollback }: Facts): {
  readonly state: RunState;
  readonly rollback: RollbackResult;
} {
  if (reached) return { state: "SUCCEEDED", rollback: "notNeeded" };
  const left = items.some(({ status }) =>
    ["created", "creating", "unknown", "kept", "rollbackFailed"].includes(status),
  );
  if (rollback !== null) return { state: left || rollback === "incomplete" ? "PARTIAL" : "FAILED", rollback };
  return left ? { state: "PARTIAL", rollback: "notRequested" } : { state: "FAILED", rollback: "notNeeded" };
}
