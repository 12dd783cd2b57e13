import { isList, isMap, type JsonValue } from "../json.ts";

/** The type of a value; never the value, except for one short word. */
export function describe(value: JsonValue | undefined): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (typeof value === "string") return /^[\w./-]{1,60}$/.test(value) ? value : "a text";
  if (typeof value === "boolean") return "a boolean";
  if (isList(value)) return "a list";
  return isMap(value) ? "a map" : "a number";
}
