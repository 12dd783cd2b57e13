import { CST, type Document, Lexer, LineCounter, type Node, parseAllDocuments } from "yaml";
import { type JsonValue, MAX_DEPTH, parseJson } from "../json.ts";
import type { Path, Place, TextFault } from "./place.ts";
import { scalarSource } from "./scalar.ts";
import { MAX_VALUES, TreeReader } from "./tree.ts";

/** Longest text, characters. */
export const MAX_TEXT: number = 8 * 1024 ** 2;
/** Most marks and scalars of a text: what its tree costs. */
const MAX_TOKENS = 1_000_000;
/** A text that is longer is weighed before a tree is built of it, and read as JSON where it is JSON. */
const LONG_TEXT = 256 * 1024;

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
  const tooLarge = (message: string): TextValue =>
    failed({ code: "TOO_LARGE", message, path: [], place: { line: 1, column: 1 } });
  if (text.length > MAX_TEXT) return tooLarge(`the text has more than ${MAX_TEXT / 1024 ** 2} MiB; split the template`);
  if (text.length <= LONG_TEXT) return readYaml(text);
  if (text.trimStart().startsWith("{")) {
    if (jsonValues(text) > MAX_VALUES) return tooLarge(`more than ${MAX_VALUES} values; split the template`);
    const json = readLongJson(text);
    if (json !== undefined) return json;
  }
  const why = weigh(text);
  return why === null ? readYaml(text) : tooLarge(why);
}

function failed(...faults: readonly TextFault[]): TextValue {
  return { value: undefined, faults, place: () => null, source: () => null };
}

/** Why a text is too large to be parsed, before much memory is spent on it. */
function weigh(text: string): string | null {
  let tokens = 0;
  let depth = 0;
  let onLine = 0;
  for (const token of new Lexer().lex(text)) {
    if (++tokens > MAX_TOKENS) return "the text has too many parts; split the template";
    // A token of one character is a mark: [ and { open, ] and } close, - and ? nest within a line.
    if (token.length > 1) continue;
    const first = token.charCodeAt(0);
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

/** About how many values a JSON text has: the marks outside of its texts. */
function jsonValues(text: string): number {
  let count = 0;
  let inText = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x22) inText = !inText;
    else if (inText && code === 0x5c) index++;
    else if (!inText && (code === 0x2c || code === 0x5b || code === 0x7b)) count++;
  }
  return count;
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
    yaml ??= weigh(text) === null ? readYaml(text) : failed();
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
