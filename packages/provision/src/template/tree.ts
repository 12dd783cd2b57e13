import { isAlias, isMap, isNode, isScalar, isSeq, type Node, type YAMLMap } from "yaml";
import { emptyMap, isMap as isJsonMap, type JsonMap, type JsonValue, MAX_DEPTH } from "../json.ts";
import type { Path, Place, TextFault } from "./place.ts";
import { scalarSource, scalarValue } from "./scalar.ts";
import type { FaultCode } from "./types.ts";

/** Most values, aliases counted where they are used. */
export const MAX_VALUES: number = 500_000;

/** Turns a tree of nodes into a value and remembers anchors, which stand before their aliases. */
export class TreeReader {
  readonly faults: TextFault[] = [];
  readonly #place: (offset: number) => Place;
  readonly #anchors = new Map<string, Node>();
  #values = 0;

  constructor(place: (offset: number) => Place) {
    this.#place = place;
  }

  convert(node: unknown, path: Path, depth: number): JsonValue {
    if (!isNode(node)) return null;
    if (++this.#values > MAX_VALUES) {
      if (this.#values > MAX_VALUES + 1) return null;
      return this.#fault(
        "TOO_LARGE",
        node,
        path,
        `more than ${MAX_VALUES} values, aliases counted where they are used; write less`,
      );
    }
    if (depth > MAX_DEPTH)
      return this.#fault("TOO_LARGE", node, path, `nested deeper than ${MAX_DEPTH}; write it flatter`);
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (!target) return this.#fault("SYNTAX", node, path, "an alias without its anchor; define the anchor before it");
      return this.convert(target, path, depth + 1);
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) {
      const value = scalarValue(node);
      return value === undefined
        ? this.#fault("INVALID", node, path, "a number that JSON does not have; give a finite one")
        : value;
    }
    if (isSeq(node)) return node.items.map((item, index) => this.convert(item, [...path, index], depth + 1));
    return isMap(node) ? this.#map(node, path, depth) : null;
  }

  #map(node: YAMLMap, path: Path, depth: number): JsonMap {
    const map = emptyMap();
    const merged = emptyMap();
    for (const { key, value } of node.items) {
      if (!isScalar(key)) {
        this.#fault("INVALID", isNode(key) ? key : node, path, "a key that is no text; write it as a word");
        continue;
      }
      if (isMerge(key)) {
        this.#merge(merged, this.convert(value, path, depth + 1), key, path);
        continue;
      }
      const name = typeof key.value === "string" ? key.value : (scalarSource(key) ?? String(key.value));
      const at = [...path, name];
      if (Object.hasOwn(map, name))
        this.#fault("DUPLICATE_KEY", key, at, "this key stands twice in its map; remove one");
      map[name] = this.convert(value, at, depth + 1);
    }
    for (const [name, value] of Object.entries(merged)) if (!Object.hasOwn(map, name)) map[name] = value;
    return map;
  }

  #merge(into: Record<string, JsonValue>, value: JsonValue, key: Node, path: Path): void {
    for (const source of Array.isArray(value) ? value : [value]) {
      if (!isJsonMap(source)) {
        this.#fault("INVALID", key, path, "<< takes a map or a list of maps");
        continue;
      }
      for (const [name, item] of Object.entries(source)) if (!Object.hasOwn(into, name)) into[name] = item;
    }
  }

  /** The key and the value at a path; aliases are followed. */
  find(root: unknown, path: Path): { readonly key: Node | null; readonly value: Node | null } | null {
    let key: Node | null = null;
    let node = this.#follow(root);
    for (const step of path) {
      if (isSeq(node) && typeof step === "number") {
        key = null;
        node = this.#follow(node.items[step]);
      } else if (isMap(node)) {
        const pair = node.items.findLast(
          (item) => isScalar(item.key) && (item.key.value === step || item.key.source === step),
        );
        if (!pair || !isNode(pair.key)) return null;
        key = pair.key;
        node = this.#follow(pair.value);
      } else return null;
      if (key === null && node === null) return null;
    }
    return { key, value: node };
  }

  #follow(node: unknown): Node | null {
    if (isAlias(node)) return this.#anchors.get(node.source) ?? null;
    return isNode(node) ? node : null;
  }

  #fault(code: FaultCode, node: Node, path: Path, message: string): null {
    if (this.faults.length < 1_000)
      this.faults.push({ code, message, path, place: node.range ? this.#place(node.range[0]) : null });
    return null;
  }
}

function isMerge(key: Node): boolean {
  return isScalar(key) && key.value === "<<" && key.source === "<<" && key.type === "PLAIN";
}
