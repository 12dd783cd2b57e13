import type { Metadata, PodStatus, Problem, Resource, StringMap, Workload } from "@trawler/plugin-api";
import { makeProblem } from "./problem.ts";
import { redactList, redactNamed } from "./redact.ts";
import { MAX_TEXT } from "./sanitize.ts";
import { clip } from "./text.ts";

/** A workload's own part of its frames: redacted, capped, on maps without a prototype. */
export interface Description {
  readonly resource: Resource;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly status: PodStatus | null;
  readonly metadata: Metadata;
  /** What was cut. */
  readonly problems: readonly Problem[];
}

const MAX_ANNOTATION = 4096;
const MAX_MAP = 65_536;
/** Copies of whole objects that tools leave in annotations. */
const DROPPED: ReadonlySet<string> = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);

const known = new WeakMap<Workload, Description>();

/** Made once for each workload value, as most frames are about one that has not changed. */
export function describe(workload: Workload): Description {
  const made = known.get(workload) ?? make(workload);
  known.set(workload, made);
  return made;
}

function make({ resource, labels, annotations, status, metadata }: Workload): Description {
  const problems: Problem[] = [];
  return {
    resource: cleanResource(resource),
    labels: cleanMap(labels, "label", MAX_ANNOTATION, problems),
    annotations: cleanMap(annotations, "annotation", MAX_ANNOTATION, problems),
    status: status && cleanStatus(status),
    metadata: cleanMetadata(metadata),
    problems,
  };
}

export function cleanResource(resource: Resource): Resource {
  const clean: Record<string, string | readonly string[] | null> = Object.create(null);
  for (const [name, value] of Object.entries(resource)) {
    if (value === null) clean[name] = null;
    else if (typeof value === "string") clean[name] = clip(redactNamed(name, value), MAX_TEXT);
    else clean[name] = redactList(value).map((item) => clip(item, 1024));
  }
  return clean;
}

/** In the order of the source; entries that no longer fit into 64 KiB are left out, and said so. */
function cleanMap(map: StringMap, what: string, max: number, problems: Problem[]): StringMap {
  const clean: Record<string, string> = Object.create(null);
  let bytes = 0;
  let left = 0;
  let cut = 0;
  for (const [name, value] of Object.entries(map)) {
    if (DROPPED.has(name)) continue;
    const safe = redactNamed(name, value);
    const text = clip(safe, max);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
    if (bytes > MAX_MAP) left++;
    else {
      clean[name] = text;
      if (text.length < safe.length) cut++;
    }
  }
  if (cut > 0) problems.push(makeProblem(null, "truncated", `${cut} ${what}s were longer than ${max} bytes`));
  if (left > 0)
    problems.push(makeProblem(null, "truncated", `${left} ${what}s left out: over ${MAX_MAP} bytes together`));
  return clean;
}

function cleanStatus(status: PodStatus): PodStatus {
  const { phase, reason, qosClass, startTime, resourceVersion, generation, hostNetwork, ips, conditions } = status;
  return {
    phase,
    reason,
    qosClass,
    startTime,
    resourceVersion,
    generation,
    static: status.static,
    hostNetwork,
    ips,
    conditions: conditions
      .slice(0, 64)
      .map(({ type, status: is, reason: why, since }) => ({ type: clip(type, 256), status: is, reason: why, since })),
  };
}

const GROUPS = ["identity", "spec", "labels", "annotations", "status", "network", "owner"] as const;

function cleanMetadata({ complete, reason, groups }: Metadata): Metadata {
  const clean: Partial<Record<(typeof GROUPS)[number], object>> = {};
  for (const name of GROUPS) {
    const group = groups[name];
    if (!group) continue;
    const { source, observedAt, declared } = group;
    clean[name] = { source, observedAt, ...(declared && { declared }) };
  }
  return { complete, reason: reason === null ? null : clip(reason, 1024), groups: clean as Metadata["groups"] };
}
