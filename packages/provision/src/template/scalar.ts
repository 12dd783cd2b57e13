import { isScalar, type Node, Scalar } from "yaml";
import { exactNumber, type JsonValue } from "../json.ts";

const JSON_NUMBER = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/;
const OLD_BOOLEAN = /^(?:(yes|Yes|YES|on|On|ON)|no|No|NO|off|Off|OFF)$/;
const OLD_OCTAL = /^([-+]?)0([0-7]+)$/;

/**
 * The value of a YAML scalar as kubectl reads it: `0644` is octal, `yes` and `off` are booleans, numbers are exact.
 * Undefined where JSON has no such value (`.inf`, `.nan`).
 */
export function scalarValue(node: Scalar): JsonValue | undefined {
  const { value, source = "", type } = node;
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") {
    const old = type === Scalar.PLAIN && node.tag === undefined ? OLD_BOOLEAN.exec(source) : null;
    return old === null ? value : old[1] !== undefined;
  }
  if (typeof value !== "number") return value === undefined ? null : String(value);
  const octal = OLD_OCTAL.exec(source);
  if (octal) return Number.parseInt(`${octal[1]}${octal[2]}`, 8);
  if (JSON_NUMBER.test(source)) return exactNumber(jsonNumber(source));
  return Number.isFinite(value) ? value : undefined;
}

/** What stands in the text for a scalar, for values that must be text but were written as a number or a boolean. */
export function scalarSource(node: Node | null): string | null {
  return isScalar(node) && typeof node.source === "string" ? node.source : null;
}

/** Brings `+5`, `.5`, `5.` and `08` into JSON's grammar. */
function jsonNumber(source: string): string {
  return source
    .replace(/^\+/, "")
    .replace(/^(-?)0+(?=\d)/, "$1")
    .replace(/^(-?)\./, "$10.")
    .replace(/\.(?=$|[eE])/, "");
}
