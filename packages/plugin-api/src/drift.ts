import type { MetaAccess } from "./access.ts";

/**
 * When the container that a crawler is asked about was started, milliseconds since the epoch; null where there is none
 * (the host, a folder), or where it is not known.
 */
export function startOf({ workload, container }: MetaAccess): number | null {
  const [only, ...others] = workload.containers;
  const one = container ?? (others.length === 0 ? only : undefined);
  const time = Date.parse(one?.state.startedAt ?? "");
  return Number.isNaN(time) ? null : time;
}

/**
 * Whether a file is no longer the image's: it was changed after the container started. `changed` is its time of change,
 * RFC 3339, which no program can set back. Null where the start is not known. A runtime tells the start a moment late: what
 * the first process writes at once may count as the image's.
 */
export function isDrift(changed: string, startedAt: number | null): boolean | null {
  return startedAt === null ? null : Date.parse(changed) > startedAt;
}
