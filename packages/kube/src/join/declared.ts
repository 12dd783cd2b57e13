import type { MetadataSource } from "@trawler/plugin-api";
import type { PodRecord } from "../pods/record.ts";
import { compareVersions } from "../reflector/version.ts";
import type { JoinInput } from "./input.ts";

export interface Declared {
  readonly record: PodRecord;
  readonly source: Extract<MetadataSource, "api" | "podsApi" | "cache">;
  readonly observedAt: string;
  readonly deleted: boolean;
}

/**
 * The newest record of what is declared: the API server's while its watch is healthy, else the kubelet's unless that is
 * older, else the last one of the API server.
 */
export function declaredOf(input: JoinInput): Declared | null {
  const { api, kubelet, apiAway } = input;
  if (api !== null && apiAway === null) return { ...api, source: "api", deleted: api.deleted === true };
  if (kubelet !== null) {
    const older = compareVersions(kubelet.record.resourceVersion, api?.record.resourceVersion ?? null) === -1;
    if (!older) return { ...kubelet, source: "podsApi", deleted: kubelet.deleted === true };
  }
  return api === null ? null : { ...api, source: "cache", deleted: api.deleted === true };
}
