import { isRecord } from "@trawler/kube";

/** What of a Lease (coordination.k8s.io/v1) matters here. */
export interface LeaseState {
  readonly resourceVersion: string;
  /** Null or empty = nobody. */
  readonly holder: string | null;
  readonly durationSeconds: number;
  /** How often it changed hands: our fencing token. */
  readonly transitions: number;
  /** Opaque: only that it changes matters. */
  readonly renewTime: string | null;
}

export function parseLease(body: unknown): LeaseState | null {
  const metadata = isRecord(body) && isRecord(body["metadata"]) ? body["metadata"] : {};
  const spec = isRecord(body) && isRecord(body["spec"]) ? body["spec"] : {};
  const resourceVersion = metadata["resourceVersion"];
  if (typeof resourceVersion !== "string") return null;
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, renewTime } = spec;
  return {
    resourceVersion,
    holder: typeof holderIdentity === "string" && holderIdentity !== "" ? holderIdentity : null,
    durationSeconds: typeof leaseDurationSeconds === "number" ? leaseDurationSeconds : 0,
    transitions: typeof leaseTransitions === "number" ? leaseTransitions : 0,
    renewTime: typeof renewTime === "string" ? renewTime : null,
  };
}

export interface LeaseWrite {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string | null;
  readonly holder: string;
  readonly durationSeconds: number;
  readonly transitions: number;
  /** Wall clock, milliseconds. */
  readonly now: number;
  readonly acquiredAt: number;
}

export function leaseBody(write: LeaseWrite): object {
  const { namespace, name, resourceVersion, holder, durationSeconds, transitions, now, acquiredAt } = write;
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name, ...(resourceVersion === null ? {} : { resourceVersion }) },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: durationSeconds,
      leaseTransitions: transitions,
      acquireTime: micro(acquiredAt),
      renewTime: micro(now),
    },
  };
}

/** MicroTime, as Kubernetes wants it. */
function micro(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "000Z");
}
