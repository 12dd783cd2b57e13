import { emptyMap, isMap, type JsonMap, type JsonValue } from "../json.ts";
import { describe } from "./describe.ts";
import { type FaultList, pointer } from "./faults.ts";
import { currentVersion, isClusterScoped } from "./kinds.ts";
import type { Path } from "./place.ts";
import { flatten, isListKind, merged, type SourceObject, withMetadata, withoutFixedNamespace } from "./prepare.ts";
import { MAX_OBJECT, type Substitution } from "./substitute.ts";
import type { Mode, ProcessedObject } from "./types.ts";

interface ObjectOptions {
  readonly mode: Mode;
  readonly labels: Readonly<Record<string, string>>;
  readonly namespace: string | null;
}

/**
 * Makes what is to be created: fixed namespaces out, values in, old kinds to their groups, labels on. An object with
 * a fault is null and does not stop the others.
 */
export function processObjects(
  objects: readonly JsonMap[],
  substitution: Substitution,
  options: ObjectOptions,
  faults: FaultList,
): readonly (ProcessedObject | null)[] {
  const processed = flatten(objects, options.mode).map((source, index) =>
    processObject(source, index, substitution, options, faults),
  );
  if (options.mode === "strict") checkIdentities(processed, faults);
  return processed;
}

function processObject(
  { object, path }: SourceObject,
  index: number,
  substitution: Substitution,
  { mode, labels, namespace }: ObjectOptions,
  faults: FaultList,
): ProcessedObject | null {
  if (typeof object["kind"] !== "string" || typeof object["apiVersion"] !== "string")
    return missing(object, path, faults);
  const substituted = substitution.object(withoutFixedNamespace(object), path);
  const { kind, apiVersion } = substituted;
  if (typeof kind !== "string" || typeof apiVersion !== "string" || kind === "" || apiVersion === "")
    return missing(substituted, path, faults);
  const version = currentVersion(apiVersion, kind);
  const body = withLabels(
    version === apiVersion ? substituted : merged(substituted, { apiVersion: version }),
    labels,
    path,
    faults,
  );
  if (body === null) return null;
  const metadata = isMap(body["metadata"]) ? body["metadata"] : emptyMap();
  if (mode === "strict" && !checkTexts(metadata, path, faults)) return null;
  if (JSON.stringify(body).length > MAX_OBJECT) {
    faults.error("TOO_LARGE", path, `this object has more than ${MAX_OBJECT / 1024 ** 2} MiB; split it`);
    return null;
  }
  const own = text(metadata["namespace"]);
  return {
    index,
    path: pointer(path),
    apiVersion: version,
    kind,
    namespace: own ?? (isClusterScoped(version, kind) ? null : namespace),
    name: text(metadata["name"]),
    generateName: text(metadata["generateName"]),
    body,
  };
}

function missing(object: JsonMap, path: Path, faults: FaultList): null {
  // Objects of a template are checked when it is read; items of a List, and what substitution made, are not.
  const name = typeof object["kind"] === "string" && object["kind"] !== "" ? "apiVersion" : "kind";
  if (path.length > 2 || Object.hasOwn(object, name)) faults.error("INVALID", path, `this object has no ${name}`);
  return null;
}

function withLabels(
  object: JsonMap,
  labels: Readonly<Record<string, string>>,
  path: Path,
  faults: FaultList,
): JsonMap | null {
  if (Object.keys(labels).length === 0) return object;
  if (isListKind(object)) {
    faults.error(
      "LABELS",
      path,
      "the labels of the template cannot be put on a list; write its items as objects of the template",
    );
    return null;
  }
  const { metadata = emptyMap() } = object;
  const own = isMap(metadata) ? (metadata["labels"] ?? emptyMap()) : null;
  if (!isMap(metadata) || !isMap(own)) {
    const [where, found] = isMap(metadata)
      ? (["metadata.labels", metadata["labels"]] as const)
      : (["metadata", metadata] as const);
    faults.error("LABELS", [...path, ...where.split(".")], `${where} is ${describe(found)}; it takes a map`);
    return null;
  }
  return withMetadata(object, merged(metadata, { labels: merged(own, labels) }));
}

/** Names, labels and annotations are texts; a server would refuse others only when it is too late. */
function checkTexts(metadata: JsonMap, path: Path, faults: FaultList): boolean {
  let right = true;
  const check = (value: JsonValue | undefined, at: Path): void => {
    if (value === undefined || value === null || typeof value === "string") return;
    right = false;
    faults.error(
      "NOT_TEXT",
      [...path, "metadata", ...at],
      `${at.join(".")} becomes ${describe(value)}; write \${NAME} instead of \${{NAME}}, or put it in quotes`,
    );
  };
  for (const key of ["name", "generateName", "namespace"]) check(metadata[key], [key]);
  for (const key of ["labels", "annotations"]) {
    const map = metadata[key];
    if (isMap(map)) for (const [name, value] of Object.entries(map)) check(value, [key, name]);
  }
  return right;
}

function checkIdentities(objects: readonly (ProcessedObject | null)[], faults: FaultList): void {
  const seen = new Map<string, ProcessedObject>();
  for (const object of objects) {
    if (object === null || object.name === null) continue;
    const group = object.apiVersion.includes("/") ? object.apiVersion.split("/")[0] : "";
    const identity = JSON.stringify([group, object.kind, object.namespace, object.name]);
    const first = seen.get(identity);
    if (!first) seen.set(identity, object);
    else {
      const message = `a second ${object.kind} ${object.name.slice(0, 100)}, after ${first.path}; give it another name`;
      faults.error("OBJECT_DUPLICATE", path(object.path), message);
    }
  }
}

function path(text: string): Path {
  return text
    .split("/")
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
