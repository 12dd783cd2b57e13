import { describeSchema, inYaml, isSecret } from "./describe.ts";
import { alternatives, type JsonSchema, memberSchemas, schemaMap, textList } from "./json-schema.ts";
import { type Path, parsePath, pathText } from "./path.ts";

/** What there is to know of one setting, from the schema alone. */
export interface SettingInfo {
  readonly path: string;
  readonly description: string;
  readonly expected: string;
  /** As it stands in YAML; null where there is none. */
  readonly default: string | null;
  readonly required: boolean;
  readonly secret: boolean;
  /** Keys below it. */
  readonly keys: readonly string[];
}

/**
 * Finds a setting by its full path (`pipelines.default.every`; any pipeline and label will do) or by its end
 * (`kafka.brokers`, `every`): then all that match, at most 50.
 */
export function explainSetting(schema: JsonSchema, key: string): readonly SettingInfo[] {
  const path = parsePath(key);
  if (!path) return [];
  const exact = at(schema, path);
  if (exact) return [exact];
  const end = path.map(plain);
  return [...everySetting(schema)]
    .filter(({ path: full }) => end.every((part, index) => plain(full.at(index - end.length) ?? "") === part))
    .slice(0, 50)
    .map(({ info }) => info);
}

function plain(part: string | number): string {
  return String(part).split("/")[0] ?? "";
}

function at(schema: JsonSchema, path: Path): SettingInfo | null {
  let schemas: readonly JsonSchema[] = alternatives(schema, schema);
  let parents = schemas;
  for (const part of path) {
    parents = schemas;
    schemas = memberSchemas(schema, schemas, part) ?? [];
    if (schemas.length === 0) return null;
  }
  return describe(schema, path, schemas, parents);
}

function* everySetting(root: JsonSchema, path: Path = []): Generator<{ path: Path; info: SettingInfo }> {
  if (path.length > 10) return;
  const schemas = path.length === 0 ? alternatives(root, root) : schemasOf(root, path);
  for (const key of keysOf(schemas)) {
    const inner = memberSchemas(root, schemas, key) ?? [];
    const full = [...path, key];
    yield { path: full, info: describe(root, full, inner, schemas) };
    yield* everySetting(root, full);
  }
}

function schemasOf(root: JsonSchema, path: Path): readonly JsonSchema[] {
  let schemas: readonly JsonSchema[] = alternatives(root, root);
  for (const part of path) schemas = memberSchemas(root, schemas, part) ?? [];
  return schemas;
}

function keysOf(schemas: readonly JsonSchema[]): readonly string[] {
  return [
    ...new Set(
      schemas.flatMap((schema) => [
        ...schemaMap(schema["properties"]).keys(),
        ...[...schemaMap(schema["patternProperties"]).keys()].map(
          (pattern) => /^\^([a-z0-9-]+)/.exec(pattern)?.[1] ?? "",
        ),
        // The one open map of the file is that of the pipelines, whose usual name is `default`.
        ...(isPipelines(schema) ? ["default"] : []),
      ]),
    ),
  ].filter((key) => key !== "");
}

function isPipelines(schema: JsonSchema): boolean {
  const inner = schema["additionalProperties"];
  return typeof inner === "object" && inner !== null && "properties" in inner;
}

function describe(
  root: JsonSchema,
  path: Path,
  schemas: readonly JsonSchema[],
  parents: readonly JsonSchema[],
): SettingInfo {
  const key = String(path.at(-1) ?? "");
  const first = schemas.find((schema) => "default" in schema);
  const described = [...schemas, ...parents.flatMap((parent) => describing(parent, key))];
  return {
    path: pathText(path),
    description: described.map((schema) => schema["description"]).find((text) => typeof text === "string") ?? "",
    expected: describeSchema(schemas.filter((schema) => schema["type"] !== "null")),
    default: first ? inYaml(first["default"]) : null,
    required: parents.some((parent) => textList(parent["required"]).includes(key)),
    secret: isSecret(schemas, key),
    keys: keysOf(schemas.flatMap((schema) => alternatives(root, schema))),
  };
}

/** A plugin's description stands beside the reference to its settings. */
function describing(parent: JsonSchema, key: string): readonly JsonSchema[] {
  return [...schemaMap(parent["patternProperties"])]
    .filter(([pattern]) => new RegExp(pattern, "u").test(key))
    .map(([, value]) => value);
}
