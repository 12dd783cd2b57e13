import type { Container, Workload } from "@trawler/plugin-api";
import type { Declared } from "./declared.ts";
import type { RuntimePod } from "./runtime.ts";

const RUNS: ReadonlySet<Container["state"]["status"]> = new Set(["running", "paused"]);

const YOUNG_MILLISECONDS = 60_000;

/**
 * Whether something runs, will run, or never will again. A pod between two restarts, and one whose sandbox is being
 * made anew, has not ended.
 */
export function lifecycleOf(
  runtime: RuntimePod | null,
  declared: Declared | null,
  containers: readonly Container[],
): Workload["lifecycle"] {
  if (containers.some(({ state }) => RUNS.has(state.status))) return "running";
  if (hasEnded(runtime, declared, containers)) return "ended";
  return containers.some(({ state }) => state.startedAt !== null || (state.restarts ?? 0) > 0) ? "running" : "waiting";
}

function hasEnded(runtime: RuntimePod | null, declared: Declared | null, containers: readonly Container[]): boolean {
  if (declared?.record.phase === "Succeeded" || declared?.record.phase === "Failed") return true;
  const sandboxDown = runtime === null || runtime.sandbox?.state !== "ready";
  if (declared?.deleted === true) return sandboxDown;
  // No runtime view and no final word: the pod may not have begun here.
  if (runtime === null || !sandboxDown) return false;
  // Nothing is in it: a pod that is being set up, unless it is on its way out or what is left of one.
  if (runtime.containers.length === 0)
    return declared === null ? !isYoung(runtime) : declared.record.deletedAt !== null;
  if (runtime.containers.some(({ state }) => state !== "exited")) return false;
  if (declared === null || declared.record.deletedAt !== null) return true;
  const { restartPolicy } = declared.record;
  if (restartPolicy === "Never") return true;
  return restartPolicy === "OnFailure" && containers.every(({ state }) => state.exitCode === 0);
}

/** A sandbox that is being set up may not be ready yet. */
function isYoung(runtime: RuntimePod): boolean {
  return Date.parse(runtime.observedAt) - Date.parse(runtime.sandbox?.createdAt ?? "") < YOUNG_MILLISECONDS;
}
