import { isList, isMap, type JsonMap, type JsonValue } from "../json.ts";
import type { Path } from "./place.ts";

/** One place where a template refers to a parameter (declared or not). */
export interface Use {
  readonly name: string;
  /** From the root of the template. For a key, the path of its map. */
  readonly path: Path;
  /** `${{NAME}}` as the whole text. */
  readonly typed: boolean;
  /** The whole text is this reference. */
  readonly whole: boolean;
  readonly key: boolean;
  /** `${{NAME}}` inside longer text, where it is not replaced. */
  readonly partial: boolean;
  /** The text in which it stands. */
  readonly text: string;
}

/** `${NAME}`. */
export const REFERENCE: RegExp = /\$\{([a-zA-Z0-9_]+)\}/g;
/** `${{NAME}}` as a whole text. */
export const TYPED_REFERENCE: RegExp = /^\$\{\{([a-zA-Z0-9_]+)\}\}$/;
const INNER_TYPED = /\$\{\{([a-zA-Z0-9_]+)\}\}/g;

/** All references in a value, at any depth, in keys and texts, in the order of the text. */
function findUses(value: JsonValue, path: Path): readonly Use[] {
  const uses: Use[] = [];
  walk(value, path, uses);
  return uses;
}

/** References in the objects of a template, its message and its labels. */
export function templateUses(template: {
  readonly objects: readonly JsonMap[];
  readonly message: string | null;
  readonly labels: Readonly<Record<string, string>>;
}): readonly Use[] {
  const objects = template.objects.flatMap((object, index) => findUses(object, ["objects", index]));
  return [...objects, ...findUses(template.message, ["message"]), ...findUses(template.labels, ["labels"])];
}

function walk(value: JsonValue, path: Path, uses: Use[]): void {
  if (typeof value === "string") ofText(value, path, false, uses);
  else if (isList(value)) for (const [index, item] of value.entries()) walk(item, [...path, index], uses);
  else if (isMap(value)) {
    for (const [key, item] of Object.entries(value)) {
      ofText(key, path, true, uses);
      walk(item, [...path, key], uses);
    }
  }
}

function ofText(text: string, path: Path, key: boolean, uses: Use[]): void {
  if (!text.includes("${")) return;
  const typed = TYPED_REFERENCE.exec(text)?.[1];
  if (typed !== undefined) {
    uses.push({ name: typed, path, typed: true, whole: true, key, partial: false, text });
    return;
  }
  for (const [reference, name = ""] of text.matchAll(REFERENCE))
    uses.push({ name, path, typed: false, whole: reference === text, key, partial: false, text });
  if (!text.includes("${{")) return;
  for (const [, name = ""] of text.matchAll(INNER_TYPED))
    uses.push({ name, path, typed: true, whole: false, key, partial: true, text });
}
