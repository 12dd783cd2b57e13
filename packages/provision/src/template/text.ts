import {
  CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseAllDocuments,
  type YAMLMap,
} from "yaml";
import { emptyMap, isMap as isJsonMap, type JsonMap, type JsonValue, MAX_DEPTH, parseJson } from "../json.ts";
import { scalarSource, scalarValue } from "./scalar.ts";
import type { FaultCode } from "./types.ts";

/** Longest text, characters. */
export const MAX_TEXT: number = 8 * 1024 ** 2;
/** Most values, aliases counted where they are used. */
export const MAX_VALUES: number = 500_000;
const MAX_TOKENS = 2_000_000;
/** A text that is longer is weighed before a tree is built of it, and read as JSON where it is JSON. */
const LONG_TEXT = 256 * 1024;

export type Path = readonly (string | number)[];

/** A place in a text, from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface TextFault {
  readonly code: FaultCode;
  readonly message: string;
  readonly path: Path;
  readonly place: Place | null;
}

/** A text as a value, with the way from a path back to its place. */
export interface TextValue {
  /** Undefined where the text has no value at all. */
  readonly value: JsonValue | undefined;
  readonly faults: readonly TextFault[];
  /** Where `path` stands, or its nearest ancestor that is there. */
  place(path: Path): Place | null;
  /** The text of the scalar at `path`, as it is written. */
  source(path: Path): string | null;
}

/** Reads YAML or JSON: one document, unique text keys, bounded depth and size. Never throws. */
export function readText(text: string): TextValue {
  const tooLarge = weigh(text);
  if (tooLarge !== null)
    return failed({ code: "TOO_LARGE", message: tooLarge, path: [], place: { line: 1, column: 1 } });
  if (text.length > LONG_TEXT && text.trimStart().startsWith("{")) {
    const value = readLongJson(text);
    if (value !== undefined) return value;
  }
  return readYaml(text);
}

function failed(...faults: readonly TextFault[]): TextValue {
  return { value: undefined, faults, place: () => null, source: () => null };
}

/** Why a text is too large to be parsed, before much memory is spent on it. */
function weigh(text: string): string | null {
  if (text.length > MAX_TEXT) return `the text has more than ${MAX_TEXT / 1024 ** 2} MiB; split the template`;
  if (text.length <= LONG_TEXT) return null;
  let tokens = 0;
  let depth = 0;
  let onLine = 0;
  for (const token of new Lexer().lex(text)) {
    if (++tokens > MAX_TOKENS) return "the text has too many parts; split the template";
    const first = token.charCodeAt(0);
    // [ and { open, ] and } close; - and ? nest within a line.
    if (first === 0x5b || first === 0x7b) depth++;
    else if (first === 0x5d || first === 0x7d) depth--;
    else if (first === 0x0a) onLine = 0;
    else if (first === 0x2d || first === 0x3f) {
      const type = CST.tokenType(token);
      if (type === "seq-item-ind" || type === "explicit-key-ind") onLine++;
    }
    if (depth > MAX_DEPTH || onLine > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH}; write it flatter`;
  }
  return null;
}

/** Many times faster than YAML; places are looked up only once something is wrong. */
function readLongJson(text: string): TextValue | undefined {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  let yaml: TextValue | null = null;
  const slow = (): TextValue => {
    yaml ??= readYaml(text);
    return yaml;
  };
  return { value, faults: [], place: (path) => slow().place(path), source: (path) => slow().source(path) };
}

function readYaml(text: string): TextValue {
  const lines = new LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  let documents: readonly Document.Parsed[];
  try {
    const parsed = parseAllDocuments(text, {
      lineCounter: lines,
      prettyErrors: false,
      version: "1.2",
      uniqueKeys: false,
    });
    documents = "empty" in parsed ? [] : parsed;
  } catch {
    // The parser goes down with what it reads.
    return failed({
      code: "TOO_LARGE",
      message: "nested too deep; write it flatter",
      path: [],
      place: { line: 1, column: 1 },
    });
  }
  const [document, second] = documents;
  if (!document)
    return failed({
      code: "SYNTAX",
      message: "the text is empty; give a template",
      path: [],
      place: { line: 1, column: 1 },
    });
  const faults: TextFault[] = documents
    .flatMap(({ errors, warnings }) => [...errors, ...warnings])
    .slice(0, 50)
    .map(({ code, pos }) => ({
      code: "SYNTAX",
      message: `neither YAML nor JSON here (${code.toLowerCase().replaceAll("_", " ")}); correct the syntax`,
      path: [],
      place: place(pos[0]),
    }));
  if (second && faults.length === 0) {
    const at = place(second.range[0]);
    faults.push({
      code: "SYNTAX",
      message: "a second document starts here; give one template a file",
      path: [],
      place: at,
    });
  }
  if (faults.length > 0) return failed(...faults);
  const reader = new TreeReader(place);
  const value = reader.convert(document.contents, [], 0);
  const find = (path: Path): { key: Node | null; value: Node | null } | null => reader.find(document.contents, path);
  return {
    value,
    faults: reader.faults,
    place: (path) => {
      for (let length = path.length; length >= 0; length--) {
        const found = find(path.slice(0, length));
        const node = found?.key ?? found?.value;
        if (node?.range) return place(node.range[0]);
      }
      return null;
    },
    source: (path) => scalarSource(find(path)?.value ?? null),
  };
}

/** Turns a tree of nodes into a value and remembers anchors, which stand before their aliases. */
class TreeReader {
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
