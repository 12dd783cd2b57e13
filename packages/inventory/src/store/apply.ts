import { isRecord } from "@trawler/kube";
import { errorMessage } from "@trawler/plugin-api";
import type { AbsentEvent, EvidenceEvent, FiguresEvent, MergedEvent, ObjectEvent, QueuedEvent } from "../events.ts";
import { toldPod } from "../fold/evidence.ts";
import { factsOf } from "../fold/facts.ts";
import { parseFigures, unseenPod, usedOf } from "../fold/figures.ts";
import { foldAbsent, foldMerged, foldObject, foldReplaced, judge } from "../fold/fold.ts";
import { redactObject } from "../fold/redact.ts";
import type { Side } from "./side.ts";
import type { Working } from "./working.ts";

export interface Tally {
  changed: number;
  staleIgnored: number;
  quarantined: number;
}

/** Applies events one after another to the records of a batch; each either wholly or, set aside, not at all. */
export function applyEvents(events: readonly QueuedEvent[], working: Working, side: Side, tally: Tally): void {
  for (const queued of events) {
    try {
      applyEvent(queued, working, side, tally);
    } catch (error) {
      tally.quarantined += 1;
      side.quarantine(queued, errorMessage(error));
    }
  }
}

function applyEvent(queued: QueuedEvent, working: Working, side: Side, tally: Tally): void {
  const { event } = queued;
  if (event.type === "gap") {
    side.gap(event);
    return;
  }
  if (event.type === "searched") {
    side.searched(event);
    return;
  }
  side.position(event);
  if (event.type === "figures") applyFigures(event, queued, working, side, tally);
  else if (event.type === "absent") applyAbsent(event, working, tally);
  else if (event.type === "merged") applyMerged(event, working, tally);
  else if (event.type === "evidence") applyEvidence(event, working, tally);
  else if ("payload" in event) applyObject(event, queued, working, side, tally);
}

function applyObject(event: ObjectEvent, queued: QueuedEvent, working: Working, side: Side, tally: Tally): void {
  const known = working.get(event.kind, event.uid);
  const verdict = judge(known, event);
  if (verdict === "same") return;
  if (verdict === "stale") {
    tally.staleIgnored += 1;
    return;
  }
  const object = parseObject(event);
  const state = verdict === "fresh" ? null : known;
  // Of an object that was too large there is its identity: nothing that is known makes way for it.
  const isKnown = event.truncated === true && state !== null;
  const facts = object === null || isKnown ? null : factsOf(event.kind, object);
  if (facts === null && event.truncated !== true) {
    tally.quarantined += 1;
    side.quarantine(queued, object === null ? "no JSON object" : "an object without a name");
  }
  const next = foldObject(state, event, facts);
  if (state === null && facts !== null) closeNamesakes(event, facts.namespace, facts.name, working, tally);
  const kept =
    object === null || event.truncated === true ? undefined : encode(redactObject(event.kind, object), working);
  working.set(next, kept, verdict === "fresh");
  tally.changed += 1;
}

/** A new UID under a name that another one holds: that one is gone, though nobody said so. */
function closeNamesakes(
  event: ObjectEvent,
  namespace: string | null,
  name: string,
  working: Working,
  tally: Tally,
): void {
  for (const namesake of working.named(event.kind, namespace, name)) {
    const closed = namesake.uid === event.uid ? null : foldReplaced(namesake, event);
    if (closed === null) continue;
    working.set(closed);
    tally.changed += 1;
  }
}

function applyAbsent(event: AbsentEvent, working: Working, tally: Tally): void {
  const known = working.get(event.kind, event.uid);
  const nodeIsGone = event.kind === "Pod" && known?.node != null && working.isNodeGone(known.node);
  const next = foldAbsent(known, event, nodeIsGone);
  if (next === null) {
    tally.staleIgnored += 1;
    return;
  }
  working.set(next);
  tally.changed += 1;
}

function applyMerged(event: MergedEvent, working: Working, tally: Tally): void {
  const next = foldMerged(working.get(event.kind, event.uid), event);
  if (next === null) return;
  working.set(next);
  tally.changed += 1;
}

function applyEvidence(event: EvidenceEvent, working: Working, tally: Tally): void {
  if (working.get("Pod", event.uid) !== null) return;
  working.set(toldPod(event));
  tally.changed += 1;
}

function applyFigures(event: FiguresEvent, queued: QueuedEvent, working: Working, side: Side, tally: Tally): void {
  const frame = parseFigures(event.payload);
  if (frame === null) {
    tally.quarantined += 1;
    side.quarantine(queued, "no frame");
    return;
  }
  side.figures(event, frame);
  const known = working.get("Pod", event.uid);
  // Set again although it stays the same, so that those who follow the changes see that its figures have come.
  const state = known ?? unseenPod(event, frame);
  working.set({ ...state, used: usedOf(frame, state.used) });
  tally.changed += 1;
}

function parseObject(event: ObjectEvent): Readonly<Record<string, unknown>> | null {
  if (event.payload.length === 0) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(event.payload));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function encode(object: unknown, working: Working): Uint8Array {
  return working.encode(JSON.stringify(object));
}
