import type { Workload } from "@trawler/plugin-api";
import { isCrawlAnnotation } from "./annotation.ts";

/**
 * What a `changed` frame is about, as text to compare: labels, annotations that change what is crawled, resources,
 * containers and their states, restarts, addresses, phase, owner. Not conditions, resourceVersion or probe results.
 */
export function significantOf(workload: Workload): string {
  const { lifecycle, labels, annotations, resource, status, containers } = workload;
  return JSON.stringify([
    lifecycle,
    sorted(labels),
    sorted(annotations).filter(([name]) => isCrawlAnnotation(name)),
    sorted(resource),
    [status?.phase, status?.reason, status?.ips],
    containers.map(({ name, id, image, digest, type, state, resources }) => {
      const { status: is, reason, exitCode, restarts, startedAt, finishedAt } = state;
      return [name, id, image, digest, type, is, reason, exitCode, restarts, startedAt, finishedAt, resources];
    }),
  ]);
}

/** What an open subject depends on: where it changes, the mode has to follow. */
export function openingOf({ handle, sandbox, containers }: Workload): string {
  return JSON.stringify([
    handle,
    sandbox && [sandbox.id, sandbox.handle],
    containers.map(({ id, handle: reached, state }) => [id, reached, isRunning(state.status)]),
  ]);
}

export function isRunning(status: Workload["containers"][number]["state"]["status"]): boolean {
  return status === "running" || status === "paused";
}

function sorted<T>(map: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
}
