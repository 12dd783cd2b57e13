import assert from "node:assert/strict";
import type { Feature, FeatureSchemas } from "@trawler/plugin-api";
import { jsonSchemaOf, record } from "./settings.ts";

const FLAT = new Set(["string", "number", "integer", "boolean", "null"]);

/** Every feature is one flat object; each number says its unit as `x-unit` (UCUM). */
export function checkSchemas(features: FeatureSchemas): void {
  assert.ok(Object.keys(features).length > 0, "declares no feature");
  for (const [type, schema] of Object.entries(features)) {
    assert.match(type, /^[a-z][a-zA-Z0-9]*$/, `feature type ${type} is no lower-case word`);
    const json = jsonSchemaOf(schema, "output");
    assert.equal(json["type"], "object", `${type} is no object`);
    const properties = Object.entries(record(json["properties"]));
    assert.ok(properties.length > 0, `${type} has no field`);
    for (const [field, property] of properties) checkField(`${type}.${field}`, record(property));
  }
}

function checkField(path: string, property: Readonly<Record<string, unknown>>): void {
  const types = typesOf(property);
  for (const type of types) {
    const flat = FLAT.has(type) || type === "array";
    assert.ok(flat, `${path} is of type ${type}: a feature's value is flat`);
  }
  if (!types.some((type) => type === "number" || type === "integer")) return;
  assert.equal(typeof property["x-unit"], "string", `${path} is a number without x-unit, beside its type`);
}

function typesOf(property: Readonly<Record<string, unknown>>): readonly string[] {
  const { type, anyOf, enum: values } = property;
  if (Array.isArray(anyOf)) return anyOf.flatMap((one) => typesOf(record(one)));
  if (Array.isArray(type)) return type.map(String);
  if (typeof type === "string") return [type];
  return Array.isArray(values) ? values.map((value) => (value === null ? "null" : typeof value)) : ["string"];
}

/** One feature against the schema that its crawler declares for its type. */
export async function checkFeature(features: FeatureSchemas, feature: Feature): Promise<void> {
  const schema = Object.hasOwn(features, feature.type) ? features[feature.type] : undefined;
  assert.ok(schema, `${feature.type} is not a declared feature`);
  const { issues } = await schema["~standard"].validate(feature.value);
  assert.equal(
    issues,
    undefined,
    `${feature.type} ${feature.key} does not match its schema: ${JSON.stringify(issues)}`,
  );
}
