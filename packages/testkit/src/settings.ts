import assert from "node:assert/strict";
import type { Schema } from "@trawler/plugin-api";
import type { Case } from "./case.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** The value that a schema makes of settings; throws where they do not hold. */
export async function parseSettings(schema: Schema, settings: unknown): Promise<unknown> {
  const result = await schema["~standard"].validate(settings);
  if (result.issues) throw new Error(result.issues.map(({ message }) => message).join("; "));
  return result.value;
}

export function jsonSchemaOf(schema: Schema, side: "input" | "output"): JsonSchema {
  return schema["~standard"].jsonSchema[side]({ target: "draft-2020-12" });
}

/** What all four kinds share: name, description, settings. */
export function commonCases(
  plugin: { readonly name: string; readonly description: string; readonly config: Schema; readonly api?: number },
  settings: unknown,
): readonly Case[] {
  return [
    {
      name: "has a kebab-case name, one sentence of description and the contract's version",
      async run() {
        assert.match(plugin.name, /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
        assert.match(plugin.description, /^[A-Z][^\n]{4,160}\.$/);
        assert.equal(plugin.api, 1);
      },
    },
    {
      name: "describes every setting and refuses unknown ones",
      async run() {
        const schema = jsonSchemaOf(plugin.config, "input");
        assert.equal(schema["type"], "object");
        checkObject(schema, plugin.name);
        const known = typeof settings === "object" ? settings : {};
        await assert.rejects(
          parseSettings(plugin.config, { ...known, "no-such-setting": 1 }),
          "an unknown setting must be refused",
        );
        await parseSettings(plugin.config, settings);
      },
    },
  ];
}

function checkObject(schema: JsonSchema, path: string): void {
  assert.equal(schema["additionalProperties"], false, `${path} must refuse unknown settings`);
  for (const [key, property] of Object.entries(record(schema["properties"]))) {
    const inner = record(property);
    assert.equal(typeof inner["description"], "string", `setting ${path}.${key} has no description`);
    if (inner["type"] === "object" && inner["properties"] !== undefined) checkObject(inner, `${path}.${key}`);
  }
}

export function record(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
