import type { Document } from "./document.ts";
import { parseDocumentText } from "./document.ts";
import type { Fault } from "./fault.ts";
import { type Path, type Place, parsePath } from "./path.ts";
import { emptyMap, FORBIDDEN_KEYS, isMap, type Value } from "./value.ts";

/** Applies `--set path=value` texts to a document, in order; the value is read as YAML. Faults go to the document's. */
export function applyOverrides(document: Document, overrides: readonly string[]): void {
  for (const override of overrides) {
    const equals = override.indexOf("=");
    const name = equals < 0 ? override : override.slice(0, equals);
    const place: Place = { file: `--set ${name}`, line: 0, column: 0 };
    const fault = (found: string, expected: string, mend: string): void => {
      document.faults.push({ place, path: [], found, expected, mend });
    };
    const path = equals < 0 ? null : parsePath(name);
    if (!path) {
      fault("no path=value", "a path with dots and a value", "write it as --set pipelines.default.every=30s");
      continue;
    }
    if (path.some((part) => typeof part === "string" && (FORBIDDEN_KEYS.has(part) || part.includes("${")))) {
      fault("this key is not allowed", "", "remove it");
      continue;
    }
    // A map is the only root that a document has, so the value is read as the one member of a map.
    const parsed = parseDocumentText(`value: ${override.slice(equals + 1)}`, place.file);
    if (parsed.faults.length > 0) {
      const [first] = parsed.faults;
      fault(`the value is no YAML: ${first?.found ?? ""}`, "a YAML value", "quote it for the shell and for YAML");
      continue;
    }
    const failure = assign(document, path, parsed.root["value"] ?? null, place);
    if (failure) document.faults.push(failure);
  }
}

function assign(document: Document, path: Path, value: Value, place: Place): Fault | null {
  let parent: Value = document.root;
  for (const [index, part] of path.entries()) {
    const last = index === path.length - 1;
    const at = path.slice(0, index + 1);
    let next: Value | undefined;
    if (Array.isArray(parent)) {
      const position = Number(part);
      if (!Number.isInteger(position) || position < 0 || position > parent.length) {
        return {
          place,
          path: at,
          found: "no such place in the list",
          expected: `0 to ${parent.length}`,
          mend: "set the list as a whole",
        };
      }
      next = last ? value : (parent[position] ?? emptyMap());
      parent[position] = next;
    } else if (isMap(parent)) {
      const key = String(part);
      next = last ? value : Object.hasOwn(parent, key) ? (parent[key] ?? emptyMap()) : emptyMap();
      parent[key] = next;
    } else {
      return { place, path: at.slice(0, -1), found: "a single value", expected: "a map", mend: "set the key above it" };
    }
    if (last) mark(document, path, value, place);
    else if (document.places.key(at).line === 0) document.places.set(at, place, place);
    parent = next;
  }
  return null;
}

function mark(document: Document, path: Path, value: Value, place: Place): void {
  document.places.set(path, place, place);
  const members = Array.isArray(value) ? value.entries() : isMap(value) ? Object.entries(value) : [];
  for (const [key, child] of members) mark(document, [...path, key], child, place);
}
