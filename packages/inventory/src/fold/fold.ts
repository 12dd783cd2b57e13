import { compareVersions } from "@trawler/kube";
import type { AbsentEvent, MergedEvent, ObjectEvent } from "../events.ts";
import type { End } from "../record.ts";
import { differences, mergeRuns } from "./differences.ts";
import { appendBounded, type Facts, type RecordState } from "./state.ts";

/**
 * What an event makes of a record. `stale`: older than what is known, or of one that is gone; `same`: known already;
 * `fresh`: the record stays as it is and this begins another one (a UID that is alive again after a restored etcd).
 */
export type Verdict = "apply" | "same" | "stale" | "fresh";

/** Whether an event says something new; decided before its payload is parsed. */
export function judge(state: RecordState | null, event: ObjectEvent): Verdict {
  if (state === null) return "apply";
  if (state.end !== null) return judgeEnded(state, state.end, event);
  if (event.epoch !== state.versionEpoch) return event.epoch > state.versionEpoch ? "apply" : "stale";
  const order = compareVersions(event.resourceVersion, state.resourceVersion);
  // The version of a deletion is its own; servers have sent it with the object's last version as well.
  if (event.type === "deleted") return order === -1 ? "stale" : "apply";
  if (order === null) return event.resourceVersion === state.resourceVersion ? "same" : "apply";
  return order === 0 ? "same" : order === -1 ? "stale" : "apply";
}

function judgeEnded(state: RecordState, end: End, event: ObjectEvent): Verdict {
  // Never seen through the API: whatever it says is more than we know.
  if (end.finalState === "unknown" && state.resourceVersion === null) return "apply";
  if (event.epoch < state.versionEpoch) return "stale";
  const restored = event.epoch > state.versionEpoch;
  if (event.type === "deleted") {
    if (restored || end.finalState === "exact") return "stale";
    return compareVersions(event.resourceVersion, state.resourceVersion) === -1 ? "stale" : "apply";
  }
  if (restored) return "fresh";
  // A deletion that the server told is final. One that we concluded is not: the server may show that it lives.
  if (end.evidence === "watch") return "stale";
  return compareVersions(event.resourceVersion, state.endVersion) === 1 ? "apply" : "stale";
}

/** Applies an object. `facts` null: it could not be understood, only its identity counts. */
export function foldObject(state: RecordState | null, event: ObjectEvent, facts: Facts | null): RecordState {
  const before = state ?? emptyState(event);
  const told = facts === null ? {} : withoutEarlier(facts);
  const truncated = facts === null || facts.truncated || event.truncated === true;
  const after: RecordState = { ...before, ...told, truncated };
  const said = facts === null ? [] : differences(state, after);
  const at = { at: event.receivedAt, resourceVersion: event.resourceVersion };
  let transitions = said.reduce((list, what) => appendBounded(list, { ...at, what }), before.transitions);
  const gone = event.type === "deleted";
  if (gone) transitions = appendBounded(transitions, { ...at, what: "deleted" });
  else if (before.end !== null) transitions = appendBounded(transitions, { ...at, what: "seen again" });
  return {
    ...after,
    // A later state may lack the node that an earlier one was bound to.
    node: after.node ?? before.node,
    resourceVersion: event.resourceVersion ?? before.resourceVersion,
    versionEpoch: event.epoch,
    lastSeenAt: Math.max(before.lastSeenAt, event.receivedAt),
    updates: before.updates + 1,
    transitions,
    instances: facts === null ? before.instances : mergeRuns(before.instances, [...facts.earlier, ...facts.containers]),
    end: gone ? seenEnd(event, facts, state) : null,
    endVersion: gone ? event.resourceVersion : null,
  };
}

/** Counts a state that was dropped; null where it is not newer than what is known. */
export function foldMerged(state: RecordState | null, event: MergedEvent): RecordState | null {
  if (state === null || state.end !== null || event.epoch !== state.versionEpoch) return null;
  if (compareVersions(event.resourceVersion, state.resourceVersion) !== 1) return null;
  return { ...state, updates: state.updates + 1, lastSeenAt: Math.max(state.lastSeenAt, event.receivedAt) };
}

function seenEnd(event: ObjectEvent, facts: Facts | null, state: RecordState | null): End {
  const at = event.receivedAt;
  const finalState = facts !== null && event.truncated !== true ? "exact" : state === null ? "unknown" : "last";
  return { observedAt: at, evidence: "watch", finalState, notBefore: at, notAfter: at };
}

/** Closes a record that a later complete list lacks; null where the list says nothing about it. */
export function foldAbsent(state: RecordState | null, event: AbsentEvent, nodeIsGone: boolean): RecordState | null {
  if (state === null || state.end !== null || event.epoch < state.versionEpoch) return null;
  const older = compareVersions(event.resourceVersion, state.resourceVersion) === -1;
  if (older && event.epoch === state.versionEpoch) return null;
  return close(state, event.resourceVersion, {
    observedAt: event.receivedAt,
    evidence: nodeIsGone ? "node" : "relist",
    finalState: "last",
    notBefore: event.notBefore,
    notAfter: event.notAfter,
  });
}

/** Closes a record whose name another UID has taken; null where that one is older. */
export function foldReplaced(state: RecordState, by: ObjectEvent): RecordState | null {
  if (state.end !== null || by.epoch < state.versionEpoch) return null;
  const older = compareVersions(by.resourceVersion, state.resourceVersion) === -1;
  if (older && by.epoch === state.versionEpoch) return null;
  return close(state, by.resourceVersion, {
    observedAt: by.receivedAt,
    evidence: "replaced",
    finalState: "last",
    notBefore: state.lastSeenAt,
    notAfter: Math.max(state.lastSeenAt, by.receivedAt),
  });
}

export function close(state: RecordState, version: string | null, end: End): RecordState {
  const transition = { at: end.observedAt, resourceVersion: version, what: `gone (${end.evidence})` };
  return { ...state, end, endVersion: version, transitions: appendBounded(state.transitions, transition) };
}

/** A record of which only the identity is known. */
export function emptyState(from: {
  readonly kind: string;
  readonly uid: string;
  readonly epoch: number;
  readonly receivedAt: number;
}): RecordState {
  return {
    kind: from.kind,
    uid: from.uid,
    epoch: from.epoch,
    namespace: null,
    name: from.uid,
    node: null,
    owners: [],
    resourceVersion: null,
    generation: null,
    labels: Object.create(null),
    annotations: Object.create(null),
    phase: null,
    reason: null,
    qosClass: null,
    serviceAccount: null,
    podIps: [],
    hostIps: [],
    resources: Object.create(null),
    containers: [],
    exitCode: null,
    createdAt: null,
    deletionTimestamp: null,
    deletionGraceSeconds: null,
    firstSeenAt: from.receivedAt,
    lastSeenAt: from.receivedAt,
    end: null,
    used: null,
    updates: 0,
    truncated: false,
    versionEpoch: from.epoch,
    endVersion: null,
    transitions: [],
    instances: [],
  };
}

function withoutEarlier({ earlier: _, ...facts }: Facts): Omit<Facts, "earlier"> {
  return facts;
}
