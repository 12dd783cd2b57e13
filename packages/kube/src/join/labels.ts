import type { MetadataGroup, MetadataSource, StringMap } from "@trawler/plugin-api";
import { ANNOTATION_CAPS, boundedMap, LABEL_CAPS } from "../pods/bounded-map.ts";
import type { Declared } from "./declared.ts";
import type { JoinInput } from "./input.ts";

export type MapName = "labels" | "annotations";

/** One map of strings and where it comes from; `group` is null where nothing gives it. */
export interface SourcedMap {
  readonly map: StringMap;
  readonly group: MetadataGroup | null;
}

/** The kubelet may take so long to bring a label edit into a file: until then a differing file is the older one. */
const FILE_LAG_MILLISECONDS = 120_000;

/** Added by the kubelet to what the user wrote; the API's record has them for static pods only. */
const KUBELET_KEYS = /^kubernetes\.io\/config\.(?:seen|source)$/;
/** Added by the kubelet and the runtime to what goes into a sandbox. */
const RUNTIME_KEYS = /^(?:io\.kubernetes\.|io\.cri-containerd\.|kubernetes\.io\/config\.(?:seen|source)$)/;

/** Labels or annotations from the newest source that gives them. A key that this source lacks has been removed. */
export function pickMap(name: MapName, input: JoinInput, declared: Declared | null): SourcedMap {
  const fromRecord =
    declared === null ? null : named(strip(declared.record[name], declared), declared.source, declared);
  if (fromRecord !== null && declared?.source === "api") return fromRecord;
  const file = input.downward === null ? null : input.downward[name];
  const best = fromRecord ?? fromPrevious(name, input);
  if (file !== null && input.downward !== null) {
    const map = strip(boundedMap(file, name === "labels" ? LABEL_CAPS : ANNOTATION_CAPS).map, declared);
    const downward = named(map, "downward", input.downward);
    if (best === null || sameMap(best.map, map) || outlived(input, declared)) return downward;
  }
  return best ?? fromSandbox(name, input);
}

/** Whether a file that differs from the last record must be newer than it. */
function outlived(input: JoinInput, declared: Declared | null): boolean {
  if (declared?.source !== "cache" || input.downward === null || input.apiAway === null) return false;
  return Date.parse(input.downward.observedAt) - Date.parse(input.apiAway.since) > FILE_LAG_MILLISECONDS;
}

/** What an API source said before it fell silent. */
function fromPrevious(name: MapName, input: JoinInput): SourcedMap | null {
  const group = input.previous?.metadata.groups[name];
  if (input.previous === null || group === undefined || !DECLARED.has(group.source)) return null;
  return named(input.previous[name], "cache", group);
}

const DECLARED: ReadonlySet<MetadataSource> = new Set(["api", "podsApi", "cache"]);

/** What the kubelet told the runtime when it made the sandbox: the state of then. */
function fromSandbox(name: MapName, input: JoinInput): SourcedMap {
  const { runtime } = input;
  if (runtime?.sandbox == null || runtime.source === "api") return { map: Object.create(null), group: null };
  const caps = name === "labels" ? LABEL_CAPS : ANNOTATION_CAPS;
  const map = without(boundedMap(runtime.sandbox[name], caps).map, RUNTIME_KEYS);
  return named(map, runtime.source, { observedAt: runtime.sandbox.createdAt ?? runtime.observedAt });
}

function named(map: StringMap, source: MetadataSource, { observedAt }: { readonly observedAt: string }): SourcedMap {
  return { map, group: { source, observedAt } };
}

function strip(map: StringMap, declared: Declared | null): StringMap {
  return declared?.record.static === true ? map : without(map, KUBELET_KEYS);
}

function without(map: StringMap, keys: RegExp): StringMap {
  if (!Object.keys(map).some((key) => keys.test(key))) return map;
  const rest: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(map)) if (!keys.test(key)) rest[key] = value;
  return rest;
}

function sameMap(a: StringMap, b: StringMap): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}
