import type { PluginKind } from "@trawler/plugin-api";
import { describeSchema, describeValue, examples, isSecret, sample } from "./describe.ts";
import type { Document } from "./document.ts";
import type { Fault } from "./fault.ts";
import { alternatives, type JsonSchema, memberSchemas, schemaMap, schemasAt, textList, types } from "./json-schema.ts";
import { nearest } from "./nearest.ts";
import { type Path, pathText } from "./path.ts";
import { emptyMap, isMap, member, type Value, type ValueMap } from "./value.ts";

/** What a schema library reports; only `message` and `path` are sure. */
export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Turns findings into faults, with the place in the file, what was found, what belongs there and how to mend it. */
export class Checker {
  readonly #document: Document;
  readonly #schema: JsonSchema;
  readonly #substituted: ReadonlySet<string>;

  constructor(document: Document, schema: JsonSchema, substituted: ReadonlySet<string>) {
    this.#document = document;
    this.#schema = schema;
    this.#substituted = substituted;
  }

  /**
   * Converts what a file can only say as text or leaves empty, where the schema asks for it: `"9467"` from a
   * substitution to a number, `a, b` to a list, an empty section to `{}`. Reports and removes unknown keys.
   */
  shape(): ValueMap {
    const value = this.#shape(this.#document.root, [], alternatives(this.#schema, this.#schema));
    return isMap(value) ? value : emptyMap();
  }

  #shape(value: Value, path: Path, schemas: readonly JsonSchema[]): Value {
    const converted = convert(value, schemas, this.#substituted.has(pathText(path)));
    if (Array.isArray(converted)) {
      return converted.map((item, index) => {
        const inner = memberSchemas(this.#schema, schemas, index);
        return inner ? this.#shape(item, [...path, index], inner) : item;
      });
    }
    if (!isMap(converted)) return converted;
    // A map where none belongs is one fault, not one for each of its keys.
    if (!schemas.some((schema) => types(schema).length === 0 || types(schema).includes("object"))) return converted;
    const result = emptyMap();
    for (const [key, child] of Object.entries(converted)) {
      const inner = memberSchemas(this.#schema, schemas, key);
      if (inner === null) result[key] = child;
      else if (inner.length > 0) result[key] = this.#shape(child, [...path, key], inner);
      else this.#unknown(key, [...path, key], schemas);
    }
    return result;
  }

  #unknown(key: string, path: Path, schemas: readonly JsonSchema[]): void {
    const known = [...new Set(schemas.flatMap(knownKeys))];
    const section = path.length === 4 && path[0] === "pipelines" ? String(path[2]).replace(/s$/, "") : null;
    const named = key.split("/")[0] ?? key;
    const near = nearest(section ? named : key, known);
    this.add({
      place: this.#document.places.key(path),
      path,
      found: section ? `unknown ${section}` : "unknown key",
      expected: known.length === 0 ? "" : `one of ${known.slice(0, 16).join(", ")}${known.length > 16 ? ", …" : ""}`,
      mend:
        near === null
          ? section
            ? "install and name its package under plugins, or remove it"
            : "remove it"
          : `did you mean ${near}?`,
    });
  }

  /** Takes over what a schema library found in the value at `base`; unknown keys are known already. */
  issues(issues: readonly Issue[], base: Path, root: unknown): void {
    for (const issue of issues) {
      if ("code" in issue && issue.code === "unrecognized_keys") continue;
      const inner: Path = (issue.path ?? []).map((part) => keyOf(typeof part === "object" ? part.key : part));
      const value = inner.reduce<unknown>(member, root);
      const path = [...base, ...inner];
      // What could not be substituted is told already, and is no value to judge.
      if (!this.#document.faults.some((fault) => isWithin(path, fault.path))) this.#issue(issue, path, value);
    }
  }

  #issue(issue: Issue, path: Path, value: unknown): void {
    const schemas = schemasAt(this.#schema, path) ?? [];
    const key = String(path.at(-1) ?? "");
    const secret = isSecret(schemas, key) || this.#isSubstituted(path);
    const text = issue.message.replace(/^expected /, "");
    // What a schema says in its own words is better than what can be told from its shape; a request is how to mend it.
    const generic = /^(Invalid|Too (small|big)|Unrecognized)\b/.test(text) || (secret && !isOurs(issue));
    const request = !generic && /^(set|give|use|name|choose|write|add|remove)\b/.test(text) ? text : null;
    const shape = describeSchema(schemas);
    const expected = request !== null || (generic && shape !== "") ? shape : text;
    if (value === undefined) {
      this.add({
        place: this.#document.places.key(path),
        path,
        found: "missing",
        expected: [expected, descriptionOf(schemas)].filter((part) => part !== "").join(": "),
        mend: request ?? `add ${typeof path.at(-1) === "number" ? "it" : `${key}: ${sample(schemas)}`}`,
      });
      return;
    }
    this.add({
      place: this.#document.places.value(path),
      path,
      found: secret ? "found a value that is not shown" : `found ${describeValue(value)}`,
      expected,
      mend:
        request ??
        (sample(schemas) === "…"
          ? "correct it"
          : `write for example ${typeof path.at(-1) === "number" ? "" : `${key}: `}${sample(schemas)}`),
    });
  }

  /** The value, or the list that it was taken from, came out of an environment variable or a secret file. */
  #isSubstituted(path: Path): boolean {
    return this.#substituted.has(pathText(path)) || this.#substituted.has(pathText(path.slice(0, -1)));
  }

  /** Of an environment and of a mode there is exactly one. */
  count(kind: PluginKind, path: Path): void {
    const section = path.reduce<unknown>(member, this.#document.root);
    const keys = isMap(section) ? Object.keys(section) : [];
    if ((kind !== "environment" && kind !== "mode") || keys.length === 1) return;
    const found = keys.length === 0 ? `no ${kind} is named` : `${keys.length} of them: ${keys.slice(0, 5).join(", ")}`;
    this.add({
      place: this.#document.places.key(path),
      path,
      found,
      expected: `exactly one ${kind}`,
      mend:
        keys.length === 0
          ? "name one, or remove the key to take what is there"
          : "make a second pipeline for the other",
    });
  }

  add(fault: Fault): void {
    this.#document.faults.push(fault);
  }
}

function isWithin(path: Path, outer: Path): boolean {
  return outer.length > 0 && outer.every((part, index) => path[index] === part);
}

/** A setting's description as the end of a sentence; empty where its example says enough. */
function descriptionOf(schemas: readonly JsonSchema[]): string {
  if (schemas.some((schema) => examples(schema).length > 0)) return "";
  const text = schemas.map((schema) => schema["description"]).find((description) => typeof description === "string");
  return text === undefined ? "" : `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\.$/, "")}`;
}

function isOurs(issue: Issue): boolean {
  return "code" in issue && typeof issue.code === "string";
}

function keyOf(key: PropertyKey): string | number {
  return typeof key === "number" ? key : String(key);
}

function knownKeys(schema: JsonSchema): readonly string[] {
  const patterns = [...schemaMap(schema["patternProperties"]).keys()].map(
    (pattern) => /^\^([a-z0-9-]+)/.exec(pattern)?.[1] ?? "",
  );
  return [...schemaMap(schema["properties"]).keys(), ...patterns].filter((key) => key !== "");
}

function convert(value: Value, schemas: readonly JsonSchema[], substituted: boolean): Value {
  const wanted = new Set(schemas.flatMap(types));
  if (value === null && wanted.has("object")) return emptyMap();
  if (typeof value !== "string" || wanted.has("string")) return value;
  if (wanted.has("array") && schemas.some(isTextList)) {
    return value
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  }
  if (!substituted) return value;
  if ((wanted.has("number") || wanted.has("integer")) && /^-?\d{1,15}(\.\d{1,6})?$/.test(value)) return Number(value);
  if (wanted.has("boolean") && (value === "true" || value === "false")) return value === "true";
  return value;
}

function isTextList(schema: JsonSchema): boolean {
  const items = schema["items"];
  return (
    typeof items === "object" &&
    items !== null &&
    "type" in items &&
    (items.type === "string" || textList(items.type).includes("string"))
  );
}
