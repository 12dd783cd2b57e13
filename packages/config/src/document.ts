import {
  isAlias,
  isScalar,
  isSeq,
  isMap as isYamlMap,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from "yaml";
import type { Fault } from "./fault.ts";
import { type Path, type Place, Places, pathText } from "./path.ts";
import { emptyMap, FORBIDDEN_KEYS, type Value, type ValueMap } from "./value.ts";

/** Largest file that is read, bytes. */
export const MAX_FILE_BYTES: number = 1024 ** 2;
const MAX_NODES = 20_000;
const MAX_DEPTH = 32;

/** A configuration as it stands in the file: nothing substituted, nothing checked. */
export interface Document {
  readonly file: string;
  readonly root: ValueMap;
  readonly places: Places;
  readonly faults: Fault[];
}

/** Parses YAML 1.2 (one document, a map, unique text keys). Aliases are followed within a bound. Never throws. */
export function parseDocumentText(text: string, file: string): Document {
  const places = new Places(file);
  const faults: Fault[] = [];
  const start: Place = { file, line: 1, column: 1 };
  const wrong = (found: string, expected: string, mend: string): Document => {
    faults.push({ place: start, path: [], found, expected, mend });
    return { file, root: emptyMap(), places, faults };
  };
  if (text.length > MAX_FILE_BYTES) {
    return wrong(`the file is larger than ${MAX_FILE_BYTES} bytes`, "", "keep only the configuration in it");
  }
  const lines = new LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: "1.2", stringKeys: false });
  for (const { pos, message } of [...document.errors, ...document.warnings].slice(0, 20)) {
    faults.push({
      place: place(pos[0]),
      path: [],
      found: message,
      expected: "YAML 1.2",
      mend: "correct the syntax there",
    });
  }
  if (document.errors.length > 0) return { file, root: emptyMap(), places, faults };
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) {
    return { file, root: emptyMap(), places, faults };
  }

  const budget = { nodes: 0 };
  const fault = (node: Node, path: Path, found: string, expected: string, mend: string): null => {
    faults.push({ place: place(node.range?.[0] ?? 0), path, found, expected, mend });
    return null;
  };
  const convert = (node: unknown, path: Path, depth: number): Value => {
    if (!isAlias(node) && !isScalar(node) && !isSeq(node) && !isYamlMap(node)) return null;
    if (++budget.nodes > MAX_NODES) {
      if (budget.nodes > MAX_NODES + 1) return null;
      return fault(node, path, `more than ${MAX_NODES} values, aliases counted where they are used`, "", "write less");
    }
    if (depth > MAX_DEPTH) return fault(node, path, `nested deeper than ${MAX_DEPTH}`, "", "write it flatter");
    if (isAlias(node)) {
      const target = node.resolve(document);
      if (!target) return fault(node, path, "an alias without its anchor", "", "define the anchor before it is used");
      return convert(target, path, depth + 1);
    }
    if (isScalar(node)) return scalar(node.value);
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        const at = rangeStart(item, place);
        if (at) places.set([...path, index], at, at);
        return convert(item, [...path, index], depth + 1);
      });
    }
    return convertMap(node, path, depth);
  };
  const convertMap = (node: YAMLMap, path: Path, depth: number): ValueMap => {
    const map = emptyMap();
    for (const { key, value } of node.items) {
      if (!isScalar(key)) {
        fault(node, path, "a key that is no text", "a plain key", "write the key as a word");
        continue;
      }
      const name = String(key.value);
      const at: Path = [...path, name];
      if (FORBIDDEN_KEYS.has(name)) {
        fault(key, at, "this key is not allowed", "", "remove it");
      } else if (name.includes("${")) {
        fault(key, at, "a substitution inside a key", "a plain key", "write the key out; only values are substituted");
      } else {
        const keyPlace = place(key.range?.[0] ?? 0);
        places.set(at, keyPlace, rangeStart(value, place) ?? keyPlace);
        map[name] = convert(value, at, depth + 1);
      }
    }
    return map;
  };

  if (!isYamlMap(document.contents)) {
    return wrong(
      `the file holds ${isSeq(document.contents) ? "a list" : "a single value"}`,
      "a map of settings",
      `start with "${pathText(["pipelines"])}:"`,
    );
  }
  places.set([], start, start);
  return { file, root: convertMap(document.contents, [], 0), places, faults };
}

function rangeStart(node: unknown, place: (offset: number) => Place): Place | null {
  if (!isAlias(node) && !isScalar(node) && !isSeq(node) && !isYamlMap(node)) return null;
  return node.range ? place(node.range[0]) : null;
}

function scalar(value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return typeof value === "bigint" ? value : String(value);
}
