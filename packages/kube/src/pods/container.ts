import type { ContainerType, ResourcePair, StringMap, Termination } from "@trawler/plugin-api";
import type { RawObject } from "../reflector/event.ts";
import { parseBytes, parseQuantity } from "./quantity.ts";
import { integer, object, objects, text, time } from "./read.ts";
import type { ContainerSpec, ContainerStatus } from "./record.ts";

const MAX_CONTAINERS = 256;
const MAX_ENVIRONMENT = 1024;

/** The containers that a specification declares, init containers first, as they run. */
export function parseContainerSpecs(
  spec: RawObject,
  statuses: ReadonlyMap<string, RawObject>,
): readonly ContainerSpec[] {
  const init = objects(spec["initContainers"], MAX_CONTAINERS).map((raw) =>
    parseSpec(raw, raw["restartPolicy"] === "Always" ? "sidecar" : "init", statuses),
  );
  const app = objects(spec["containers"], MAX_CONTAINERS).map((raw) => parseSpec(raw, "app", statuses));
  const ephemeral = objects(spec["ephemeralContainers"], MAX_CONTAINERS).map((raw) =>
    parseSpec(raw, "ephemeral", statuses),
  );
  return [...init, ...app, ...ephemeral].filter((container) => container !== null);
}

function parseSpec(
  raw: RawObject,
  type: ContainerType,
  statuses: ReadonlyMap<string, RawObject>,
): ContainerSpec | null {
  const name = text(raw["name"], 256);
  if (name === null) return null;
  const desired = object(raw["resources"]);
  const current = object(statuses.get(name)?.["resources"]);
  return {
    name,
    type,
    image: text(raw["image"], 4096) ?? "",
    cpu: pair(desired, current, "cpu", parseQuantity),
    memory: pair(desired, current, "memory", parseBytes),
    environment: fieldReferences(raw),
  };
}

function pair(
  desired: RawObject,
  current: RawObject,
  resource: string,
  parse: (value: unknown) => number | null,
): ResourcePair {
  return {
    requestDesired: parse(object(desired["requests"])[resource]),
    requestCurrent: parse(object(current["requests"])[resource]),
    limitDesired: parse(object(desired["limits"])[resource]),
    limitCurrent: parse(object(current["limits"])[resource]),
  };
}

/** Names of variables that the downward API fills, to the field. Values of others are never looked at. */
function fieldReferences(raw: RawObject): StringMap {
  const names: Record<string, string> = Object.create(null);
  for (const variable of objects(raw["env"], MAX_ENVIRONMENT)) {
    const name = text(variable["name"], 256);
    const field = text(object(object(variable["valueFrom"])["fieldRef"])["fieldPath"], 512);
    if (name !== null && field !== null) names[name] = field;
  }
  return names;
}

/** Raw statuses of all containers by name. */
export function rawStatuses(status: RawObject): ReadonlyMap<string, RawObject> {
  const found = new Map<string, RawObject>();
  for (const key of ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"]) {
    for (const raw of objects(status[key], MAX_CONTAINERS)) {
      const name = text(raw["name"], 256);
      if (name !== null) found.set(name, raw);
    }
  }
  return found;
}

export function parseContainerStatus(name: string, raw: RawObject): ContainerStatus {
  const state = object(raw["state"]);
  const terminated = object(state["terminated"]);
  const running = object(state["running"]);
  const last = object(object(raw["lastState"])["terminated"]);
  // A state without a member means waiting (v1.ContainerState).
  const status = "running" in state ? "running" : "terminated" in state ? "terminated" : "waiting";
  const { id, runtimeName } = splitContainerId(raw["containerID"]);
  return {
    name,
    id,
    runtimeName,
    digest: parseDigest(raw["imageID"]),
    image: text(raw["image"], 4096),
    status,
    reason: text(terminated["reason"]) ?? text(object(state["waiting"])["reason"]),
    startedAt: time(running["startedAt"]) ?? time(terminated["startedAt"]),
    finishedAt: time(terminated["finishedAt"]),
    exitCode: integer(terminated["exitCode"]),
    restarts: integer(raw["restartCount"]) ?? 0,
    ready: raw["ready"] === true,
    lastTermination: "terminated" in object(raw["lastState"]) ? termination(last) : null,
    lastId: splitContainerId(last["containerID"]).id,
  };
}

function termination(raw: RawObject): Termination {
  return {
    reason: text(raw["reason"]),
    exitCode: integer(raw["exitCode"]),
    startedAt: time(raw["startedAt"]),
    finishedAt: time(raw["finishedAt"]),
  };
}

/** `containerd://8d09…` as its two parts; empty = none. */
function splitContainerId(value: unknown): { readonly id: string | null; readonly runtimeName: string | null } {
  const match = typeof value === "string" && value.length <= 512 ? /^(?:([\w.+-]+):\/\/)?([^/]+)$/.exec(value) : null;
  return { id: match?.[2] ?? null, runtimeName: match?.[1] ?? null };
}

/** The digest in an image id (`registry.example.test/redis@sha256:…`, `docker-pullable://…`, `sha256:…`). */
function parseDigest(value: unknown): string | null {
  if (typeof value !== "string" || value.length > 4096) return null;
  return /(?:^|@|\/\/)(sha(?:256|512):[0-9a-f]{64,128})$/.exec(value)?.[1] ?? null;
}
