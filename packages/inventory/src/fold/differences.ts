import type { ContainerInstance } from "../record.ts";
import { isSameRun } from "./containers.ts";
import { appendBounded, type Facts } from "./state.ts";

type Before = Pick<Facts, "phase" | "reason" | "node" | "podIps" | "deletionTimestamp" | "containers">;

/** What changed of what matters, in words; empty where nothing did. */
export function differences(before: Before | null, after: Before): readonly string[] {
  const said: string[] = [];
  if (before?.phase !== after.phase && after.phase !== null) {
    said.push(`phase ${after.phase}${after.reason === null ? "" : ` (${after.reason})`}`);
  } else if (before?.reason !== after.reason && after.reason !== null) said.push(`reason ${after.reason}`);
  if (before?.node !== after.node && after.node !== null) said.push(`node ${after.node}`);
  if (before?.podIps.join() !== after.podIps.join() && after.podIps.length > 0) {
    said.push(`addresses ${after.podIps.join(", ")}`);
  }
  if (before !== null && before.deletionTimestamp === null && after.deletionTimestamp !== null)
    said.push("terminating");
  for (const container of after.containers) {
    const earlier = before?.containers.find(({ container: name }) => name === container.container);
    if (earlier !== undefined && describe(earlier) === describe(container) && isSameRun(earlier, container)) continue;
    if (earlier === undefined && container.status === "waiting" && container.reason === null) continue;
    said.push(`${container.container}: ${describe(container)}`);
  }
  return said;
}

function describe({ status, reason, exitCode, restarts }: ContainerInstance): string {
  const parts = [
    status,
    reason,
    exitCode === null ? null : `exit ${exitCode}`,
    restarts > 0 ? `run ${restarts}` : null,
  ];
  return parts.filter((part) => part !== null).join(" ");
}

/** The runs that are known with those that an object tells of: each once, in its latest state. */
export function mergeRuns(
  known: readonly ContainerInstance[],
  told: readonly ContainerInstance[],
): readonly ContainerInstance[] {
  let runs = known;
  for (const run of told) {
    // A run that never began has neither an id nor a past.
    if (run.id === null && run.startedAt === null && run.exitCode === null) continue;
    const index = runs.findLastIndex((other) => isSameRun(other, run));
    if (index === -1) runs = appendBounded(runs, run);
    else if (!isFinal(runs[index])) runs = runs.with(index, run);
  }
  return runs;
}

function isFinal(run: ContainerInstance | undefined): boolean {
  return run?.status === "terminated" && run.finishedAt !== null;
}
