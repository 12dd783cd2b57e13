import type { Plugin, PluginKind, Schema } from "@trawler/plugin-api";
import { besideKeys, besideSettings, hostSettings } from "./host-settings.ts";
import { alternatives, isSchema, type JsonSchema, schemaList } from "./json-schema.ts";
import type { PluginName } from "./plugin-name.ts";

const DRAFT = "draft-2020-12";
/** Key of each kind in a pipeline. */
export const SECTIONS: ReadonlyMap<string, PluginKind> = new Map([
  ["environment", "environment"],
  ["mode", "mode"],
  ["crawlers", "crawler"],
  ["emitters", "emitter"],
]);

/** The input side of any Standard Schema as JSON Schema. */
export function toJsonSchema(schema: Schema): JsonSchema {
  const { $schema: _, ...rest } = schema["~standard"].jsonSchema.input({ target: DRAFT });
  return rest;
}

/**
 * One JSON Schema of the whole file: the host's settings and those of each given plugin. Plugins that are known by name
 * only are allowed, their settings unchecked.
 */
export function composeSchema(plugins: readonly Plugin[], names: readonly PluginName[] = plugins): JsonSchema {
  const definitions = Object.fromEntries(
    plugins.map((plugin) => {
      const name = `${plugin.kind}.${plugin.name}`;
      return [name, withHostSettings(plugin, relocate(toJsonSchema(plugin.config), `#/$defs/${name}`))];
    }),
  );
  const host = toJsonSchema(hostSettings);
  const pipelines = record(record(host["properties"])["pipelines"]);
  const pipeline = record(pipelines["additionalProperties"]);
  const sections = Object.fromEntries(
    [...SECTIONS].map(([section, kind]) => [
      section,
      { ...record(record(pipeline["properties"])[section]), ...instances(plugins, names, kind) },
    ]),
  );
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Trawler configuration",
    ...host,
    properties: {
      ...record(host["properties"]),
      pipelines: {
        ...pipelines,
        additionalProperties: { ...pipeline, properties: { ...record(pipeline["properties"]), ...sections } },
      },
    },
    $defs: definitions,
  };
}

/** The host's settings that a plugin's instance may have beside its own; a word that the plugin itself uses is its own. */
export function hostKeysOf(plugin: Plugin): readonly string[] {
  const own = alternatives({}, toJsonSchema(plugin.config)).flatMap((schema) =>
    Object.keys(record(schema["properties"])),
  );
  return besideKeys(plugin.kind).filter((key) => !own.includes(key));
}

function instances(plugins: readonly Plugin[], names: readonly PluginName[], kind: PluginKind): JsonSchema {
  const single = kind === "environment" || kind === "mode";
  const loaded = new Set(plugins.filter((plugin) => plugin.kind === kind).map(({ name }) => name));
  const settings = (name: string): JsonSchema =>
    loaded.has(name) ? { anyOf: [{ $ref: `#/$defs/${kind}.${name}` }, { type: "null" }] } : {};
  return {
    patternProperties: Object.fromEntries(
      names
        .filter((plugin) => plugin.kind === kind && /^[a-z0-9-]+$/.test(plugin.name))
        .map(({ name, description }) => [
          single ? `^${name}$` : `^${name}(/[a-z0-9][a-z0-9-]*)?$`,
          { description, ...settings(name) },
        ]),
    ),
    additionalProperties: false,
    ...(single ? { minProperties: 1, maxProperties: 1 } : {}),
  };
}

/** Adds `every`, `timeout` … to a plugin's own settings, in each branch where it has several; its own words win. */
function withHostSettings(plugin: Plugin, schema: JsonSchema): JsonSchema {
  const beside = toJsonSchema(besideSettings(plugin.kind));
  const extend = (branch: JsonSchema): JsonSchema => ({
    ...branch,
    ...(branch["type"] === "object" || "properties" in branch
      ? {
          properties: {
            ...record(branch["properties"]),
            ...record(beside["properties"]),
            ...record(branch["properties"]),
          },
        }
      : {}),
    ...Object.fromEntries(
      ["anyOf", "oneOf"].filter((key) => key in branch).map((key) => [key, schemaList(branch[key]).map(extend)]),
    ),
  });
  return extend(schema);
}

/** Makes references inside a schema point to where it now stands. */
function relocate(schema: JsonSchema, base: string): JsonSchema {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (!isSchema(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        key === "$ref" && typeof inner === "string" && inner.startsWith("#")
          ? `${base}${inner.slice(1)}`
          : visit(inner),
      ]),
    );
  };
  return record(visit(schema));
}

function record(value: unknown): JsonSchema {
  return isSchema(value) ? value : {};
}
