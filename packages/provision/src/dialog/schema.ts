import { emptyMap, type JsonMap, type MutableMap } from "../json.ts";
import { DNS_LABEL } from "./field.ts";
import type { Field } from "./types.ts";

/** JSON Schema of the answers: `target`, `parameters` by name, and `empty`: names whose value is to be the empty text. */
export function answerSchema(
  title: string,
  description: string | null,
  fields: readonly Field[],
  namespaces: readonly string[] | null = null,
): JsonMap {
  // Names to choose from; another one may be right too, as not everyone may list all.
  const choice = namespaces === null ? {} : { examples: namespaces };
  const properties = emptyMap();
  for (const field of fields)
    properties[field.name] = { ...fieldSchema(field), ...(field.control === "namespace" ? choice : {}) };
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const namespace = { type: "string", pattern: DNS_LABEL, maxLength: 63 };
  const optional = fields.filter((field) => field.type === "string" && !field.required).map(({ name }) => name);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title,
    ...(description === null ? {} : { description }),
    type: "object",
    properties: {
      target: {
        title: "Target",
        type: "object",
        properties: {
          namespace: { ...namespace, title: "Namespace", description: "One that exists.", ...choice },
          newNamespace: { ...namespace, title: "New namespace", description: "One to create." },
        },
        oneOf: [{ required: ["namespace"] }, { required: ["newNamespace"] }],
        additionalProperties: false,
      },
      parameters: {
        title: "Parameters",
        type: "object",
        properties,
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false,
      },
      ...(optional.length === 0
        ? {}
        : {
            empty: {
              title: "Set to empty",
              description: "Parameters whose value is to be empty, rather than not given.",
              type: "array",
              uniqueItems: true,
              items: { type: "string", enum: optional },
            },
          }),
    },
    required: ["target", ...(required.length === 0 ? [] : ["parameters"])],
    additionalProperties: false,
  };
}

function fieldSchema(field: Field): JsonMap {
  const schema: MutableMap = { type: field.type, title: field.label };
  if (field.help !== null) schema["description"] = field.help;
  if (field.default !== null) schema["default"] = field.default;
  if (field.options !== null) schema["enum"] = field.options;
  if (field.pattern !== null) schema["pattern"] = field.pattern;
  if (field.minimum !== null) schema["minimum"] = field.minimum;
  if (field.maximum !== null) schema["maximum"] = field.maximum;
  if (field.maxLength !== null) schema["maxLength"] = field.maxLength;
  if (field.control === "code") schema["contentMediaType"] = "application/json";
  if (field.secret) {
    schema["format"] = "password";
    schema["writeOnly"] = true;
  }
  return schema;
}

/** Hints as `@rjsf/core` takes them; `ui:options.control` says more than its widgets do. */
export function uiHints(fields: readonly Field[]): JsonMap {
  const parameters: MutableMap = emptyMap();
  const order = [...fields.filter(({ unused }) => !unused), ...fields.filter(({ unused }) => unused)].map(
    ({ name }) => name,
  );
  if (order.length > 0) parameters["ui:order"] = order;
  for (const field of fields) parameters[field.name] = fieldHints(field);
  return { "ui:order": ["target", "parameters", "*"], parameters };
}

const WIDGETS: Readonly<Partial<Record<Field["control"], string>>> = {
  password: "password",
  textarea: "textarea",
  code: "textarea",
  switch: "checkbox",
  select: "select",
  number: "updown",
};

function fieldHints(field: Field): JsonMap {
  const widget = WIDGETS[field.control];
  return {
    ...(widget === undefined ? {} : { "ui:widget": widget }),
    ...(field.placeholder === null ? {} : { "ui:placeholder": field.placeholder }),
    "ui:help": field.unused ? `${field.name} (never used by the template)` : field.name,
    "ui:options": {
      control: field.control,
      ...(field.multiline ? { multiline: true } : {}),
      ...(field.generated ? { generated: true } : {}),
      ...(field.generatedPattern === null ? {} : { generatedPattern: field.generatedPattern }),
      ...(field.unused ? { unused: true, collapsed: true } : {}),
    },
  };
}
