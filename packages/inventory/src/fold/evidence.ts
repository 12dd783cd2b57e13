import type { EvidenceEvent } from "../events.ts";
import { close, emptyState } from "./fold.ts";
import type { RecordState } from "./state.ts";

/** The record of a pod that only the cluster's Events tell of: it lived and ended while nothing was seen. */
export function toldPod(event: EvidenceEvent): RecordState {
  const { receivedAt, notBefore, notAfter, reasons } = event;
  const state: RecordState = {
    ...emptyState(event),
    namespace: event.namespace,
    name: event.name,
    node: event.node,
    firstSeenAt: notBefore,
    lastSeenAt: notBefore,
    transitions: reasons.map((reason) => ({ at: notBefore, resourceVersion: null, what: `event ${reason}` })),
  };
  const end = { observedAt: receivedAt, evidence: "event", finalState: "unknown", notBefore, notAfter } as const;
  return close(state, null, end);
}
