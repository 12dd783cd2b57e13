/** A value as a file holds it. Maps have a null prototype, as their keys are foreign. */
export type Value = null | boolean | number | bigint | string | Value[] | ValueMap;
export interface ValueMap {
  [key: string]: Value;
}

export function isMap(value: unknown): value is ValueMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function emptyMap(): ValueMap {
  return Object.create(null);
}

/** The member of a map, undefined where there is none; never one of a prototype. */
export function member(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isMap(value) && Object.hasOwn(value, key) ? value[String(key)] : undefined;
}

/** Keys that reach a prototype somewhere; no setting has such a name. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
