import { boundedMap, isRecord, parsePod } from "@trawler/kube";
import type { ContainerInstance, RecordOwner, RecordResources } from "../record.ts";
import { containersOf } from "./containers.ts";
import type { Facts } from "./state.ts";

type Raw = Readonly<Record<string, unknown>>;

const CAPS = { value: 4 * 1024, total: 32 * 1024 };
const MAX_OWNERS = 8;

/** The facts of an object of any kind; null where it has no name. Pods tell more. */
export function factsOf(kind: string, object: Raw): Facts | null {
  return kind === "Pod" ? podFacts(object) : otherFacts(kind, object);
}

function podFacts(object: Raw): Facts | null {
  const pod = parsePod(object);
  if (pod === null) return null;
  const metadata = at(object, "metadata");
  const { present, earlier } = containersOf(pod);
  const resources: Record<string, RecordResources> = Object.create(null);
  for (const container of pod.containers) {
    resources[container.name] = {
      cpuRequest: container.cpu.requestCurrent ?? container.cpu.requestDesired,
      cpuLimit: container.cpu.limitCurrent ?? container.cpu.limitDesired,
      memoryRequest: container.memory.requestCurrent ?? container.memory.requestDesired,
      memoryLimit: container.memory.limitCurrent ?? container.memory.limitDesired,
    };
  }
  return {
    namespace: pod.namespace,
    name: pod.name,
    node: pod.nodeName,
    owners: controllers(pod.owners),
    generation: pod.generation,
    labels: pod.labels,
    annotations: pod.annotations,
    phase: pod.phase,
    reason: pod.reason,
    qosClass: pod.qosClass,
    serviceAccount: pod.serviceAccount,
    podIps: pod.podIps,
    hostIps: pod.hostIps,
    resources,
    containers: present,
    earlier,
    exitCode: exitCode(present),
    createdAt: pod.createdAt,
    deletionTimestamp: pod.deletedAt,
    deletionGraceSeconds: integer(metadata["deletionGracePeriodSeconds"]),
    truncated: pod.cut > 0,
  };
}

function otherFacts(kind: string, object: Raw): Facts | null {
  const metadata = at(object, "metadata");
  const name = text(metadata["name"], 512);
  if (name === null) return null;
  const labels = boundedMap(metadata["labels"], CAPS);
  const annotations = boundedMap(metadata["annotations"], CAPS);
  const status = at(object, "status");
  return {
    namespace: text(metadata["namespace"], 256),
    name,
    node: kind === "Node" ? name : text(at(object, "spec")["nodeName"], 256),
    owners: controllers(ownerReferences(metadata["ownerReferences"])),
    generation: integer(metadata["generation"]),
    labels: labels.map,
    annotations: annotations.map,
    phase: text(status["phase"], 64),
    reason: text(status["reason"], 1024),
    qosClass: null,
    serviceAccount: null,
    podIps: [],
    hostIps: [],
    resources: Object.create(null),
    containers: [],
    earlier: [],
    exitCode: null,
    createdAt: time(metadata["creationTimestamp"]),
    deletionTimestamp: time(metadata["deletionTimestamp"]),
    deletionGraceSeconds: integer(metadata["deletionGracePeriodSeconds"]),
    truncated: labels.cut + annotations.cut > 0,
  };
}

interface OwnerLike extends RecordOwner {
  readonly controller: boolean;
}

/** The controller alone where one is named, else the first owner. */
function controllers(owners: readonly OwnerLike[]): readonly RecordOwner[] {
  const owner = owners.find(({ controller }) => controller) ?? owners[0];
  return owner === undefined ? [] : [{ kind: owner.kind, name: owner.name, uid: owner.uid }];
}

function ownerReferences(value: unknown): readonly OwnerLike[] {
  if (!Array.isArray(value)) return [];
  const found: OwnerLike[] = [];
  for (const raw of value.slice(0, MAX_OWNERS)) {
    if (!isRecord(raw)) continue;
    const kind = text(raw["kind"], 256);
    const name = text(raw["name"], 512);
    const uid = text(raw["uid"], 256);
    if (kind !== null && name !== null && uid !== null) {
      found.push({ kind, name, uid, controller: raw["controller"] === true });
    }
  }
  return found;
}

/** The first that is not 0; 0 where all that ended did well; null where none has ended. */
export function exitCode(containers: readonly ContainerInstance[]): number | null {
  const codes = containers.map((container) => container.exitCode).filter((code) => code !== null);
  return codes.find((code) => code !== 0) ?? codes[0] ?? null;
}

function at(object: Raw, key: string): Raw {
  const value = object[key];
  return isRecord(value) ? value : {};
}

function text(value: unknown, most: number): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, most) : null;
}

function time(value: unknown): string | null {
  return typeof value === "string" && value.length <= 64 && !Number.isNaN(Date.parse(value)) ? value : null;
}

function integer(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}
