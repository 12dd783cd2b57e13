import type {
  ContainerInspection,
  ContainerState,
  ImageInspection,
  ResourceFigures,
  StringMap,
} from "@trawler/plugin-api";
import { readInspection } from "./inspection.ts";
import { readNetworkIds } from "./network.ts";
import { isRecord, type Json, list, number, record, stringMap, text, time } from "./value.ts";

/** What one `inspect` says of a container, complete and typed. */
export interface Facts {
  readonly id: string;
  readonly name: string;
  /** As it was asked for; an id where the engine knows no name. */
  readonly image: string;
  readonly imageId: string | null;
  /** Digest of the manifest, where this engine gives it here. */
  readonly digest: string | null;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly state: ContainerState;
  /** It is gone for good, as far as the engine says: it neither runs nor will be restarted by the engine. */
  readonly ended: boolean;
  /** Null where nothing runs. */
  readonly pid: number | null;
  readonly networkMode: string | null;
  readonly ips: readonly string[];
  readonly cgroupParent: string | null;
  readonly resources: ResourceFigures;
  /** Null where only an event told of it. */
  readonly inspection: ContainerInspection | null;
  /** Null where it is not known (yet). */
  readonly imageInspection: ImageInspection | null;
  /** Ids of the networks that it is attached to. */
  readonly networkIds: readonly string[];
}

/** Reads the answer of `GET /containers/{id}/json`; null where it names no container. */
export function readFacts(answer: unknown): Facts | null {
  const inspect = record(answer);
  const id = text(inspect["Id"]);
  if (id === null) return null;
  const config = record(inspect["Config"]);
  const host = record(inspect["HostConfig"]);
  const state = record(inspect["State"]);
  const status = readState(state, number(inspect["RestartCount"]));
  const runs = status.status === "running" || status.status === "paused";
  const pid = number(state["Pid"]);
  return {
    id,
    name: pickName([inspect["Name"]]) ?? shortId(id),
    image: text(config["Image"]) ?? text(inspect["Image"]) ?? "",
    imageId: text(inspect["Image"]),
    digest: text(record(inspect["ImageManifestDescriptor"])["digest"]),
    labels: stringMap(config["Labels"]),
    annotations: stringMap(host["Annotations"]),
    state: status,
    ended: status.status === "terminated",
    pid: runs && pid !== null && pid > 0 ? pid : null,
    networkMode: text(host["NetworkMode"]),
    ips: readAddresses(record(inspect["NetworkSettings"])),
    cgroupParent: text(host["CgroupParent"]),
    resources: readResources(host),
    inspection: readInspection(inspect),
    imageInspection: null,
    networkIds: readNetworkIds(inspect),
  };
}

export function shortId(id: string): string {
  return id.slice(0, 12);
}

/** The container's own name among its names: the others are links, which hold a second slash. */
export function pickName(names: unknown): string | null {
  const known = list(names).flatMap((name) => text(name) ?? []);
  const own = known.find((name) => !name.replace(/^\//, "").includes("/")) ?? known[0];
  return text(own?.replace(/^\//, ""));
}

const STATUS: Readonly<Record<string, ContainerState["status"]>> = {
  created: "waiting",
  restarting: "waiting",
  running: "running",
  paused: "paused",
  exited: "terminated",
  dead: "terminated",
  removing: "terminated",
  // Podman's own words.
  configured: "waiting",
  initialized: "waiting",
  stopping: "running",
  stopped: "terminated",
};

function readState(state: Json, restarts: number | null): ContainerState {
  const word = text(state["Status"]) ?? legacyStatus(state);
  const status = STATUS[word] ?? "unknown";
  const exitCode = number(state["ExitCode"]);
  const startedAt = time(state["StartedAt"]);
  const finishedAt = time(state["FinishedAt"]);
  const over = status === "terminated";
  const reason = terminationReason(state, exitCode);
  // While it runs or waits, the finish is that of the run before.
  const before =
    !over && finishedAt !== null
      ? {
          reason: status === "waiting" ? reason : null,
          exitCode: status === "waiting" ? exitCode : null,
          startedAt: null,
          finishedAt,
        }
      : null;
  return {
    status,
    reason: over ? reason : word === "restarting" ? "Restarting" : null,
    startedAt: word === "created" ? null : startedAt,
    finishedAt: over ? finishedAt : null,
    exitCode: over ? exitCode : null,
    restarts,
    lastTermination: before,
  };
}

/** Engines before 1.10 give flags instead of a word. */
function legacyStatus(state: Json): string {
  if (state["Dead"] === true) return "dead";
  if (state["Restarting"] === true) return "restarting";
  if (state["Paused"] === true) return "paused";
  if (state["Running"] === true) return "running";
  return isRecord(state) && time(state["FinishedAt"]) !== null ? "exited" : "created";
}

function terminationReason(state: Json, exitCode: number | null): string | null {
  if (state["OOMKilled"] === true) return "OOMKilled";
  if (exitCode === null) return null;
  return exitCode === 0 ? "Completed" : "Error";
}

/** All addresses of all networks, the networks by name. */
function readAddresses(settings: Json): readonly string[] {
  const networks = Object.entries(record(settings["Networks"])).sort(([a], [b]) => (a < b ? -1 : 1));
  const found = networks.flatMap(([, network]) => {
    const { IPAddress, GlobalIPv6Address } = record(network);
    return [IPAddress, GlobalIPv6Address];
  });
  const plain = networks.length === 0 ? [settings["IPAddress"], settings["GlobalIPv6Address"]] : [];
  return [...new Set([...found, ...plain].flatMap((address) => text(address) ?? []))];
}

/** CPU in cores, memory in bytes; 0 is the engine's word for "not set". A container can be changed while it runs. */
function readResources(host: Json): ResourceFigures {
  const nano = positive(host["NanoCpus"]);
  const quota = positive(host["CpuQuota"]);
  const period = positive(host["CpuPeriod"]) ?? 100_000;
  const cpu = nano === null ? (quota === null ? null : quota / period) : nano / 1e9;
  return {
    cpu: pair(null, cpu),
    memory: pair(positive(host["MemoryReservation"]), positive(host["Memory"])),
  };
}

function positive(value: unknown): number | null {
  const found = number(value);
  return found !== null && found > 0 ? found : null;
}

function pair(request: number | null, limit: number | null): ResourceFigures["cpu"] {
  return { requestDesired: request, requestCurrent: request, limitDesired: limit, limitCurrent: limit };
}
