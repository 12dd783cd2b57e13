import type { MetadataGroup } from "@trawler/plugin-api";
import type { Declared } from "./declared.ts";
import type { JoinInput } from "./input.ts";

export interface Network {
  /** Observed where the runtime tells, else declared; primary first. Never from the pod's own environment. */
  readonly ips: readonly string[];
  readonly hostNetwork: boolean | null;
  readonly group: MetadataGroup | null;
}

/** Addresses: observed ones are the truth, declared ones stand beside them. */
export function networkOf(input: JoinInput, declared: Declared | null): Network {
  const sandbox = input.runtime?.sandbox ?? null;
  const hostNetwork =
    sandbox?.hostNetwork ?? declared?.record.hostNetwork ?? input.previous?.status?.hostNetwork ?? null;
  const stated = declared?.record.podIps ?? [];
  const environment = environmentAddresses(input);
  const all = [...new Set([...stated, ...environment])];
  const extra = all.length > 0 ? { declared: all } : {};
  // The runtime lists a host pod's address at times; it is the node's, and the API says which.
  const observed = hostNetwork === true && stated.length > 0 ? [] : (sandbox?.ips ?? []);
  if (observed.length > 0 && input.runtime !== null) {
    const { source: from, observedAt } = input.runtime;
    const source = input.runtimeAway ? "cache" : from;
    return { ips: observed, hostNetwork, group: { source, observedAt, ...extra } };
  }
  if (declared !== null && stated.length > 0) {
    const { source, observedAt } = declared;
    return { ips: stated, hostNetwork, group: { source, observedAt, ...extra } };
  }
  const kept = input.previous?.metadata.groups.network;
  if (declared === null && kept !== undefined && kept.source !== "environ" && input.previous?.status != null) {
    return { ips: input.previous.status.ips, hostNetwork, group: { ...kept, source: "cache" } };
  }
  if (environment.length > 0 && input.runtime !== null) {
    return { ips: [], hostNetwork, group: { source: "environ", observedAt: input.runtime.observedAt, ...extra } };
  }
  return { ips: [], hostNetwork, group: null };
}

/** What the containers' environment says; anyone may have written it, so it is only ever shown as declared. */
function environmentAddresses(input: JoinInput): readonly string[] {
  const found: string[] = [];
  for (const { environment } of input.runtime?.containers ?? []) {
    for (const name of ["POD_IP", "POD_IPS"]) {
      for (const address of (environment[name] ?? "").split(",")) if (address !== "") found.push(address.slice(0, 64));
    }
  }
  return found.slice(0, 16);
}
