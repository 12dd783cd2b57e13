import type { Path } from "./path.ts";

/** A JSON Schema (draft 2020-12) as data. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function schemaMap(value: unknown): ReadonlyMap<string, JsonSchema> {
  return new Map(
    isSchema(value) ? Object.entries(value).filter((entry): entry is [string, JsonSchema] => isSchema(entry[1])) : [],
  );
}

export function schemaList(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

export function textList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Follows `$ref` within one document and takes `anyOf`, `oneOf` and `allOf` apart: all alternatives of one place. */
export function alternatives(root: JsonSchema, schema: JsonSchema, depth = 0): readonly JsonSchema[] {
  if (depth > 16) return [];
  const target = typeof schema["$ref"] === "string" ? resolve(root, schema["$ref"]) : null;
  const branches = [
    ...(target ? [target] : []),
    ...["anyOf", "oneOf", "allOf"].flatMap((key) => schemaList(schema[key])),
  ];
  if (branches.length === 0) return [schema];
  const own = "properties" in schema || "type" in schema ? [schema] : [];
  return [...own, ...branches.flatMap((branch) => alternatives(root, branch, depth + 1))];
}

function resolve(root: JsonSchema, pointer: string): JsonSchema | null {
  if (!pointer.startsWith("#")) return null;
  let current: unknown = root;
  for (const part of pointer
    .slice(1)
    .split("/")
    .filter((text) => text !== "")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    current = isSchema(current) && Object.hasOwn(current, key) ? current[key] : undefined;
  }
  return isSchema(current) ? current : null;
}

/** The schemas that apply to one member of a value; empty where the key is unknown, null where anything is allowed. */
export function memberSchemas(
  root: JsonSchema,
  schemas: readonly JsonSchema[],
  key: string | number,
): readonly JsonSchema[] | null {
  const found: JsonSchema[] = [];
  let open = false;
  for (const schema of schemas) {
    if (typeof key === "number") {
      const items = schemaList(schema["prefixItems"])[key] ?? schema["items"];
      if (isSchema(items)) found.push(...alternatives(root, items));
      else if (hasType(schema, "array")) open = true;
      continue;
    }
    const named = schemaMap(schema["properties"]).get(key);
    const matching = named
      ? [named]
      : [...schemaMap(schema["patternProperties"])]
          .filter(([pattern]) => new RegExp(pattern, "u").test(key))
          .map(([, value]) => value);
    const rest = schema["additionalProperties"];
    if (matching.length > 0) found.push(...matching.flatMap((match) => alternatives(root, match)));
    else if (isSchema(rest) && Object.keys(rest).length > 0) found.push(...alternatives(root, rest));
    else if (rest !== false && hasType(schema, "object")) open = true;
  }
  if (found.length > 0) return found;
  return open ? null : [];
}

/** The schemas at a path; null where anything is allowed or the path leaves the schema. */
export function schemasAt(root: JsonSchema, path: Path): readonly JsonSchema[] | null {
  let schemas: readonly JsonSchema[] | null = alternatives(root, root);
  for (const part of path) {
    schemas = memberSchemas(root, schemas, part);
    if (!schemas || schemas.length === 0) return null;
  }
  return schemas;
}

export function types(schema: JsonSchema): readonly string[] {
  return typeof schema["type"] === "string" ? [schema["type"]] : textList(schema["type"]);
}

function hasType(schema: JsonSchema, type: string): boolean {
  const known = types(schema);
  return known.length === 0 || known.includes(type);
}
