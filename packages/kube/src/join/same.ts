import { isDeepStrictEqual } from "node:util";
import type { Metadata, Workload } from "@trawler/plugin-api";

/** Whether two workloads say the same, whatever the age of what they say. */
export function sameWorkload(a: Workload, b: Workload): boolean {
  return isDeepStrictEqual({ ...a, metadata: ageless(a.metadata) }, { ...b, metadata: ageless(b.metadata) });
}

function ageless(metadata: Metadata): object {
  const groups = Object.entries(metadata.groups).map(([name, group]) => [name, { ...group, observedAt: "" }]);
  return { ...metadata, groups: Object.fromEntries(groups) };
}
