import type { ContainerState, StringMap } from "@trawler/plugin-api";
import type { Facts } from "./facts.ts";
import { pickName, shortId } from "./facts.ts";
import { number, record, stringMap, text } from "./value.ts";

/** What one message of `GET /events` says of a container. */
export interface DockerEvent {
  readonly id: string;
  readonly action: string;
  /** Seconds since the epoch, for the engine's `since`; a little early, so that nothing is passed over. */
  readonly at: number | null;
  /** RFC 3339. */
  readonly time: string | null;
  /** Name, image, labels, exit code. */
  readonly attributes: StringMap;
}

/** Reads a message; null where it is about no container. Networks name the container that came or went. */
export function readEvent(message: unknown): DockerEvent | null {
  const event = record(message);
  const actor = record(event["Actor"]);
  const attributes = stringMap(actor["Attributes"]);
  const ofNetwork = event["Type"] === "network";
  const id = ofNetwork ? text(attributes["container"]) : (text(actor["ID"]) ?? text(event["id"]));
  const action = text(event["Action"]) ?? text(event["status"]);
  if (id === null || action === null) return null;
  const word = action.split(":", 1)[0] ?? action;
  const seconds = number(event["time"]);
  const nano = number(event["timeNano"]);
  return {
    id,
    // `exec_start: sh -c …` and `health_status: healthy` carry more than the action.
    action: ofNetwork ? "network" : (PODMAN.get(word) ?? word),
    // Microseconds, one early: a double holds no nanoseconds, and nothing may be passed over.
    at: nano === null ? seconds : (Math.floor(nano / 1_000) - 1) / 1e6,
    time: timestamp(nano === null ? seconds : nano / 1e9),
    attributes: ofNetwork ? stringMap({}) : attributes,
  };
}

/** Podman's own words. */
const PODMAN: ReadonlyMap<string, string> = new Map([
  ["died", "die"],
  ["remove", "destroy"],
]);

/** RFC 3339 of seconds since the epoch; null where no calendar has them. */
function timestamp(seconds: number | null): string | null {
  const date = new Date(Math.floor((seconds ?? Number.NaN) * 1_000));
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** What an event says beside the labels. */
const NOT_LABELS: ReadonlySet<string> = new Set([
  "name",
  "image",
  "exitCode",
  "containerExitCode",
  "execDuration",
  "signal",
  "container",
]);

/** A container that was gone before it could be inspected, from what its events told. */
export function factsOfEvent(event: DockerEvent): Facts {
  const { id, attributes } = event;
  const exit = attributes["exitCode"];
  const exitCode = exit !== undefined && /^-?\d{1,10}$/.test(exit) ? Number(exit) : null;
  const state: ContainerState = {
    // Without its death all that is known is that it is no more.
    status: event.action === "die" ? "terminated" : "unknown",
    reason: exitCode === null ? null : exitCode === 0 ? "Completed" : "Error",
    startedAt: null,
    finishedAt: event.time,
    exitCode,
    restarts: null,
    lastTermination: null,
  };
  const none = { requestDesired: null, requestCurrent: null, limitDesired: null, limitCurrent: null };
  const labels = Object.entries(attributes).filter(([key]) => !NOT_LABELS.has(key));
  return {
    id,
    name: pickName([attributes["name"]]) ?? shortId(id),
    image: attributes["image"] ?? "",
    imageId: null,
    digest: null,
    labels: stringMap(Object.fromEntries(labels)),
    annotations: stringMap({}),
    state,
    ended: true,
    pid: null,
    networkMode: null,
    ips: [],
    cgroupParent: null,
    resources: { cpu: none, memory: none },
    inspection: null,
    imageInspection: null,
    networkIds: [],
  };
}

/** The last known facts of a container of which an event says that it has stopped. */
export function stoppedBy(event: DockerEvent, before: Facts): Facts {
  const { state } = factsOfEvent(event);
  return {
    ...before,
    state: { ...state, startedAt: before.state.startedAt, restarts: before.state.restarts },
    ended: true,
    pid: null,
  };
}
