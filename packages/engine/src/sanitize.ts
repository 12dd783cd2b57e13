import { errorMessage, type Feature, type FeatureValue } from "@trawler/plugin-api";
import { isSecretName, REDACTED, redactList, redactNamed } from "./redact.ts";
import { clip } from "./text.ts";

/** Bytes of UTF-8 of one text in a frame. */
export const MAX_TEXT = 16_384;
const MAX_FIELDS = 256;
const MAX_LIST = 1024;
const MAX_KEY = 256;

type FieldValue = FeatureValue[string];

/** A feature that is safe to put into a frame, with about how many bytes it takes; or why it is none. */
export type Sanitized =
  | { readonly feature: Feature; readonly bytes: number }
  | { readonly feature: null; readonly reason: string };

/**
 * Takes a feature as a plugin yielded it, which may be anything, and copies it: numbers are finite, texts are capped
 * and redacted, lists hold texts only. One field that no frame can hold costs the whole feature.
 */
export function sanitize(raw: unknown, declared: Readonly<Record<string, unknown>>): Sanitized {
  try {
    const { type, key, value, observedAt } = record(raw, "the feature");
    if (typeof type !== "string" || !Object.hasOwn(declared, type))
      throw new TypeError(`type ${show(type)} is not declared`);
    if (typeof key !== "string") throw new TypeError(`${type}: the key is no text`);
    if (observedAt !== undefined && typeof observedAt !== "string") throw new TypeError(`${type}: observedAt`);
    const fields = record(value, `${type}: the value`);
    const names = Object.keys(fields);
    if (names.length > MAX_FIELDS) throw new TypeError(`${type}: more than ${MAX_FIELDS} fields`);
    const copy = new Fields();
    let bytes = type.length + key.length + 40;
    for (const name of names) {
      const item = fields[name];
      const field = fieldOf(name, item);
      if (field === undefined) throw new TypeError(`${type}: ${clip(name, MAX_KEY)} is ${show(item)}`);
      copy[clip(name, MAX_KEY)] = field;
      bytes += name.length + 4 + size(field);
    }
    const short = clip(key, 1024);
    const feature =
      observedAt === undefined ? { type, key: short, value: copy } : { type, key: short, value: copy, observedAt };
    return { feature, bytes };
  } catch (error) {
    return { feature: null, reason: `a feature was left out: ${errorMessage(error)}` };
  }
}

/** Fields of one feature. It inherits no names; unlike a bare map it has a shape, which features of a type share. */
class Fields {
  [name: string]: FieldValue;
}
Reflect.deleteProperty(Fields.prototype, "constructor");
Object.setPrototypeOf(Fields.prototype, null);

function record(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new TypeError(`${what} is no object`);
  return value;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldOf(name: string, item: unknown): FieldValue | undefined {
  switch (typeof item) {
    case "string":
      return clip(redactNamed(name, item), MAX_TEXT);
    case "boolean":
    case "bigint":
      return item;
    case "number":
      return Number.isFinite(item) ? item : undefined;
    case "object":
      return item === null ? null : listOf(name, item);
    default:
      return undefined;
  }
}

function listOf(name: string, item: object): readonly string[] | undefined {
  if (!Array.isArray(item) || item.length > MAX_LIST) return undefined;
  if (!item.every((part): part is string => typeof part === "string")) return undefined;
  if (isSecretName(name)) return item.map(() => REDACTED);
  let left = MAX_TEXT;
  const kept: string[] = [];
  for (const text of redactList(item)) {
    const part = clip(text, Math.max(left, 16));
    kept.push(part);
    left -= part.length;
    if (left <= 0) break;
  }
  return kept;
}

function size(field: FieldValue): number {
  if (typeof field === "string") return field.length + 2;
  if (typeof field === "object" && field !== null) return field.reduce((sum, text) => sum + text.length + 3, 2);
  return 12;
}

function show(item: unknown): string {
  if (typeof item === "number" || item === undefined) return String(item);
  if (typeof item === "string") return `"${clip(item, 64)}"`;
  return Array.isArray(item) ? "a list that is not of texts or too long" : `of type ${typeof item}`;
}
