import { emptyMap, isList, isMap, type JsonMap, type JsonValue, MAX_DEPTH, parseJson } from "../json.ts";
import type { FaultList } from "./faults.ts";
import type { Path } from "./place.ts";
import type { Mode } from "./types.ts";
import { REFERENCE, TYPED_REFERENCE } from "./uses.ts";

/** Most text that one object may have after substitution, characters. */
export const MAX_OBJECT: number = 3 * 1024 ** 2;

/** Most text that substitution may add to a template, characters. */
const MAX_TOTAL = 64 * 1024 ** 2;
/** References in one text that are replaced in turn; a text with more is replaced in one pass. */
const MAX_TURNS = 1_000;

/** A replacement that is to remove its field. */
const GONE = Symbol("gone");

/** Puts values into texts, keys and objects. One per template: it counts what substitution adds. */
export class Substitution {
  readonly #mode: Mode;
  readonly #values: ReadonlyMap<string, string>;
  readonly #faults: FaultList;
  readonly #nested: boolean;
  #left = MAX_OBJECT;
  #total = MAX_TOTAL;

  constructor(mode: Mode, values: ReadonlyMap<string, string>, faults: FaultList) {
    this.#mode = mode;
    this.#values = values;
    this.#faults = faults;
    this.#nested = mode === "compat" && [...values.values()].some((value) => value.includes("${"));
  }

  /** Substitutes at every depth. Faults stand at `path`. */
  object(value: JsonMap, path: Path): JsonMap {
    this.#left = Math.min(MAX_OBJECT, this.#total);
    const result = this.#map(value, path);
    if (this.#left < 0)
      this.#faults.error(
        "TOO_LARGE",
        path,
        `this object grows beyond its bound (3 MiB, 64 MiB for all); use shorter values`,
      );
    return result;
  }

  /** `${NAME}` and, of a whole text, `${{NAME}}`, both as text. */
  text(text: string): string {
    const typed = this.#typed(text);
    return typed ?? this.#replace(text);
  }

  #value(value: JsonValue, path: Path): JsonValue | typeof GONE {
    if (typeof value === "string") return this.#string(value, path);
    if (isList(value)) {
      return value.map((item, index) => {
        const result = this.#value(item, [...path, index]);
        if (result !== GONE) return result;
        this.#faults.error("NULL_IN_LIST", [...path, index], "this item of a list becomes null; give it a value");
        return null;
      });
    }
    return isMap(value) ? this.#map(value, path) : value;
  }

  #map(map: JsonMap, path: Path): JsonMap {
    const result = emptyMap();
    for (const [key, item] of Object.entries(map)) {
      const name = this.#key(key, [...path, key]);
      if (Object.hasOwn(result, name)) {
        const [say, last] =
          this.#mode === "strict" ? (["error", ""] as const) : (["warning", " (the last one wins)"] as const);
        this.#faults[say](
          "KEY_COLLISION",
          [...path, key],
          `two keys of this map become equal${last}; give them different values`,
        );
      }
      const value = this.#value(item, [...path, key]);
      if (value !== GONE) result[name] = value;
    }
    return result;
  }

  #key(key: string, path: Path): string {
    const typed = this.#typed(key);
    if (typed === null) return this.#replace(key);
    const value = readTyped(typed);
    if (typeof value === "string") return value;
    this.#faults.error(
      "KEY_NOT_TEXT",
      path,
      "this key becomes something that is no text; write ${NAME}, or give a text",
    );
    return key;
  }

  #string(text: string, path: Path): JsonValue | typeof GONE {
    const typed = this.#typed(text);
    if (typed === null) return this.#replace(text);
    const value = readTyped(typed);
    if (value === null) return GONE;
    if (this.#mode === "compat") return inexact(value);
    if (depthOf(value) + path.length <= MAX_DEPTH) return value;
    this.#faults.error("TOO_LARGE", path, `nested deeper than ${MAX_DEPTH} after substitution; give a flatter value`);
    return null;
  }

  /** The value of a text that is one typed reference, else null. */
  #typed(text: string): string | null {
    const name = text.startsWith("${{") ? TYPED_REFERENCE.exec(text)?.[1] : undefined;
    const value = name === undefined ? undefined : this.#values.get(name);
    return value === undefined ? null : this.#spend(value);
  }

  #replace(text: string): string {
    if (!text.includes("${")) return text;
    const references = this.#nested ? [...text.matchAll(REFERENCE)] : [];
    if (references.length === 0 || references.length > MAX_TURNS)
      return text.replace(REFERENCE, (reference, name: string) => this.#spend(this.#values.get(name) ?? reference));
    // Each reference of the text, in turn, replaces the first place that then looks like it.
    let result = text;
    for (const [reference, name = ""] of references) {
      const value = this.#values.get(name);
      if (value !== undefined && this.#left >= 0) result = result.replace(reference, () => this.#spend(value));
    }
    return result;
  }

  #spend(text: string): string {
    this.#left -= text.length;
    this.#total -= text.length;
    return this.#left < 0 || this.#total < 0 ? "" : text;
  }
}

/** Reads a value as JSON where it is some, else as text. */
export function readTyped(text: string): JsonValue {
  if (text === "") return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** As a reader without exact numbers has it. */
function inexact(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value));
}

function depthOf(value: JsonValue): number {
  const items = isList(value) ? value : isMap(value) ? Object.values(value) : null;
  return items === null ? 0 : 1 + items.reduce((deepest: number, item) => Math.max(deepest, depthOf(item)), 0);
}
