import { frameJsonSchema, type JsonSchema } from "@trawler/plugin-api";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** Says what is wrong with a frame; an empty list where nothing is. */
export type ValidateFrame = (frame: unknown) => readonly string[];

/** How the schemas of features are given: by type, as published in `schema/features/<type>.json`. */
export type FeatureJsonSchemas = Readonly<Record<string, JsonSchema>>;

/** Makes a check of whole frames: the envelope, and each feature by the schema of its type. An unknown type is an error. */
export function frameValidator(features: FeatureJsonSchemas): ValidateFrame {
  const ajv = newAjv();
  const envelope = ajv.compile(frameJsonSchema());
  const byType = new Map(Object.entries(features).map(([type, schema]) => [type, ajv.compile(withoutId(schema))]));
  return (frame) => [
    ...faults(envelope, frame, ""),
    ...featuresOf(frame).flatMap(({ type, value }) => {
      const check = typeof type === "string" ? byType.get(type) : undefined;
      return check ? faults(check, value, `feature ${type}`) : [`feature type ${String(type)} has no schema`];
    }),
  ];
}

let envelopeOnly: ValidateFunction | undefined;

/** The envelope alone. */
export function validateFrame(frame: unknown): readonly string[] {
  envelopeOnly ??= newAjv().compile(frameJsonSchema());
  return faults(envelopeOnly, frame, "");
}

function newAjv(): Ajv2020 {
  return new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
}

function faults(check: ValidateFunction, value: unknown, where: string): readonly string[] {
  if (check(value)) return [];
  return (check.errors ?? []).map(({ instancePath, message }) => `${where}${instancePath} ${message ?? "is wrong"}`);
}

function featuresOf(frame: unknown): readonly { readonly type?: unknown; readonly value?: unknown }[] {
  const own = list(frame, "features");
  return [...own, ...list(frame, "containers").flatMap((container) => list(container, "features"))];
}

function list(value: unknown, key: string): readonly object[] {
  if (typeof value !== "object" || value === null) return [];
  const found: unknown = Reflect.get(value, key);
  return Array.isArray(found) ? found.filter((one) => typeof one === "object" && one !== null) : [];
}

function withoutId({ $id: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
