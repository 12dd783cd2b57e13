import { type JsonSchema, schemaList, schemaMap, textList, types } from "./json-schema.ts";
import { isMap, type Value } from "./value.ts";

/** What a value is, for a message: `10 (a number)`. Texts are cut; user information in URLs is left out. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "nothing (null)";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isMap(value)) return "a map";
  if (typeof value !== "string") return `${value} (${typeof value === "boolean" ? "a truth value" : "a number"})`;
  const text = value.replace(/\/\/[^/@\s]*@/g, "//…@");
  return `the text ${JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)}`;
}

/** What a schema wants, in words: `a whole number from 1 to 65535`, `one of none, gzip`. */
export function describeSchema(schemas: readonly JsonSchema[]): string {
  return [...new Set(schemas.map(describeOne).filter((text) => text !== ""))].join(" or ");
}

function describeOne(schema: JsonSchema): string {
  if (Array.isArray(schema["enum"])) {
    const values = schema["enum"].map(String);
    return values.length === 1 ? String(values[0]) : `one of ${values.join(", ")}`;
  }
  if ("const" in schema) return JSON.stringify(schema["const"]);
  return types(schema)
    .map((type) => describeType(type, schema))
    .join(" or ");
}

function describeType(type: string, schema: JsonSchema): string {
  if (type === "string") return stringText(schema);
  if (type === "integer" || type === "number")
    return `${type === "integer" ? "a whole number" : "a number"}${range(schema)}`;
  if (type === "boolean") return "true or false";
  if (type === "array") {
    const items = schemaList([schema["items"]]).map(describeOne).join("");
    const least = schema["minItems"] === 1 ? "a list with at least one entry" : "a list";
    return items === "" || items === "a text" ? least : `${least}, each ${items}`;
  }
  if (type === "object") {
    const keys = [...schemaMap(schema["properties"]).keys()];
    return keys.length > 0 && keys.length <= 8 ? `a map of ${keys.join(", ")}` : "a map";
  }
  return type === "null" ? "null" : "";
}

function stringText(schema: JsonSchema): string {
  const [example] = examples(schema);
  const like = "pattern" in schema && example !== undefined ? ` such as ${example}` : "";
  const least = Number(schema["minLength"] ?? 0) > 0 && like === "" ? " that is not empty" : "";
  return `a text${like}${least}`;
}

function range(schema: JsonSchema): string {
  const bound = (key: string): number | undefined => {
    const value = schema[key];
    return typeof value === "number" && Number.isFinite(value) && Math.abs(value) < Number.MAX_SAFE_INTEGER
      ? value
      : undefined;
  };
  const low = bound("minimum");
  const high = bound("maximum");
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`;
  if (low !== undefined) return ` of at least ${low}`;
  if (high !== undefined) return ` of at most ${high}`;
  return bound("exclusiveMinimum") === undefined ? "" : ` above ${bound("exclusiveMinimum")}`;
}

/** Values that would be right, as they stand in YAML: examples first, then the default. */
export function examples(schema: JsonSchema): readonly string[] {
  const given = Array.isArray(schema["examples"]) ? schema["examples"] : [];
  const values: readonly unknown[] = "default" in schema ? [...given, schema["default"]] : given;
  return values.filter((value) => value !== null && value !== undefined).map((value) => inYaml(value));
}

/** A value of the right kind to show how a key is written; `…` where none is known. */
export function sample(schemas: readonly JsonSchema[]): string {
  const [example] = schemas.flatMap(examples);
  if (example !== undefined) return example;
  const [schema] = schemas;
  if (!schema) return "…";
  const [choice] = textList(schema["enum"]);
  if (choice !== undefined) return choice;
  const [type] = types(schema);
  if (type === "array") return `[${sample(schemaList([schema["items"]]))}]`;
  if (type === "integer" || type === "number") return String(schema["minimum"] ?? 1);
  if (type === "boolean") return "true";
  if (type === "object") return "{ … }";
  return "…";
}

/** One line of flow YAML; a JSON text is YAML too. */
export function inYaml(value: unknown): string {
  if (typeof value === "string" && /^[A-Za-z0-9_./-]+$/.test(value)) return value;
  return JSON.stringify(value, (_, inner: Value) => (typeof inner === "bigint" ? Number(inner) : inner)) ?? "…";
}

/** A secret is marked `x-secret` or `writeOnly`, or its key says so. */
export function isSecret(schemas: readonly JsonSchema[], key: string): boolean {
  return (
    schemas.some((schema) => schema["x-secret"] === true || schema["writeOnly"] === true) ||
    /password|passwd|passphrase|secret|token|api_?key|credential|private/i.test(key)
  );
}
