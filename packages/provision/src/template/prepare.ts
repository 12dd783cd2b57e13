import { emptyMap, isList, isMap, type JsonMap } from "../json.ts";
import type { Path } from "./place.ts";
import type { Mode } from "./types.ts";
import { REFERENCE } from "./uses.ts";

/** An object of a template with the place where it stands. */
export interface SourceObject {
  readonly object: JsonMap;
  readonly path: Path;
}

/** In strict mode the items of a List become objects of their own; in compat mode a List stays one. */
export function flatten(objects: readonly JsonMap[], mode: Mode): readonly SourceObject[] {
  return objects.flatMap((object, index): readonly SourceObject[] => {
    const path = ["objects", index];
    const { items } = object;
    if (mode === "compat" || !isListKind(object) || !isList(items)) return [{ object, path }];
    return items.map((item, place) => ({ object: isMap(item) ? item : emptyMap(), path: [...path, "items", place] }));
  });
}

export function isListKind({ kind, items }: JsonMap): boolean {
  return typeof kind === "string" && kind.endsWith("List") && isList(items);
}

/** Without a namespace that is written out: one that refers to a parameter is meant, another was left by an export. */
export function withoutFixedNamespace(object: JsonMap): JsonMap {
  const { metadata } = object;
  if (!isMap(metadata) || !("namespace" in metadata)) return object;
  const { namespace } = metadata;
  if (typeof namespace === "string" && namespace.search(REFERENCE) >= 0) return object;
  return withMetadata(object, omit(metadata, "namespace"));
}

/** A copy with another `metadata`. */
export function withMetadata(object: JsonMap, metadata: JsonMap): JsonMap {
  const copy = emptyMap();
  for (const [key, value] of Object.entries(object)) copy[key] = value;
  copy["metadata"] = metadata;
  return copy;
}

/** A copy with more entries, which win. */
export function merged(map: JsonMap, more: JsonMap): JsonMap {
  const copy = emptyMap();
  for (const part of [map, more]) for (const [key, value] of Object.entries(part)) copy[key] = value;
  return copy;
}

function omit(map: JsonMap, name: string): JsonMap {
  const copy = emptyMap();
  for (const [key, value] of Object.entries(map)) if (key !== name) copy[key] = value;
  return copy;
}
