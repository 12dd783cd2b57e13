import { isList, isMap } from "../json.ts";
import { type Piece, parseExpression } from "../template/expression.ts";
import { MASK } from "../template/redact.ts";
import { looksSecret } from "../template/secret.ts";
import { readTyped } from "../template/substitute.ts";
import type { Mode, Parameter, Template } from "../template/types.ts";
import type { Use } from "../template/uses.ts";
import { nameRule } from "./names.ts";
import { placeOf } from "./place.ts";
import type { Field } from "./types.ts";

/** A Kubernetes quantity. Source: apimachinery's resource.Quantity grammar. */
const QUANTITY = "^[-+]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$";
/** A DNS-1123 label. */
export const DNS_LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/** Annotation of a template that lists the answers of a parameter, separated by commas. */
const OPTIONS_ANNOTATION = "trawler.dev/options.";

const LONG = 80;
const INTEGER = /^-?(0|[1-9][0-9]{0,14})$/;
const BLOCK = /^(-----BEGIN |[{[]\s*["\n]|---(\s|$))/;

type Shape = Pick<Field, "control" | "type"> & Partial<Field>;

/** The field of one parameter, from what it says and from where it is used. */
export function fieldOf(parameter: Parameter, template: Template, uses: readonly Use[], mode: Mode): Field {
  const { name, displayName, description, value, generate, required } = parameter;
  const own = uses.filter((use) => use.name === name && !use.partial);
  const secret = looksSecret(name, template, own);
  const generated = generate !== null && value === null;
  const look = generated ? generatedLook(parameter.from ?? "", mode) : null;
  const shape = shapeOf(parameter, template, own, secret);
  const hiddenDefault = secret && value !== null;
  return {
    name,
    label: displayName ?? name,
    help: description,
    default: secret ? null : value,
    placeholder: hiddenDefault ? MASK : (look?.placeholder ?? null),
    required: required && generate === null && !hiddenDefault,
    options: null,
    pattern: null,
    minimum: null,
    maximum: null,
    maxLength: null,
    secret,
    multiline: false,
    generated,
    generatedPattern: look?.pattern ?? null,
    unused: !uses.some((use) => use.name === name),
    ...shape,
  };
}

function shapeOf(parameter: Parameter, template: Template, uses: readonly Use[], secret: boolean): Shape {
  const { name, value, generate } = parameter;
  const options = optionsOf(template, name, value);
  if (options !== null) return { control: "select", type: "string", options, default: secret ? null : (value ?? null) };
  const places = uses.map((use) => ({ use, place: placeOf(template, use) }));
  const at = (place: string): boolean => places.some((item) => item.place === place && item.use.whole);
  if (secret)
    return { control: "password", type: "string", multiline: isBlock(value) || /private_?key|cert/i.test(name) };
  if (places.some(({ place }) => place === "namespace") || /^(namespace|project)$/i.test(name))
    // Left empty, it is the namespace that was chosen as target.
    return { control: "namespace", type: "string", pattern: DNS_LABEL, maxLength: 63, required: false };
  const typed = uses.length > 0 && uses.every((use) => use.typed);
  if (typed && (value === "true" || value === "false"))
    return { control: "switch", type: "boolean", default: value === "true" };
  const json = typed && value !== null ? readTyped(value) : null;
  if (isList(json) || isMap(json)) return { control: "code", type: "string", multiline: true };
  if (generate === null) {
    const number = numberShape(
      parameter,
      typed,
      places.filter(({ use }) => use.typed || value !== null).map(({ place, use }) => (use.whole ? place : "other")),
    );
    if (number !== null) return number;
  }
  if (at("quantity")) return { control: "quantity", type: "string", pattern: QUANTITY };
  const names = places.filter(({ place }) => place === "name").map(({ use }) => use);
  if (names.length > 0) return { control: "text", type: "string", ...nameRule(template, names) };
  if (isBlock(value) || at("file")) return { control: "textarea", type: "string", multiline: true };
  return { control: "text", type: "string" };
}

function numberShape({ value }: Parameter, typed: boolean, places: readonly string[]): Shape | null {
  if (value !== null && !INTEGER.test(value)) {
    const number = typed ? readTyped(value) : null;
    return typeof number === "number" ? { control: "number", type: "number", default: number } : null;
  }
  const range = places.includes("node port")
    ? [30_000, 32_767]
    : places.includes("port")
      ? [1, 65_535]
      : places.includes("replicas")
        ? [0, null]
        : null;
  if (range === null && (!typed || value === null)) return null;
  const [minimum = null, maximum = null] = range ?? [];
  return { control: "number", type: "integer", minimum, maximum, default: value === null ? null : Number(value) };
}

function optionsOf({ annotations }: Template, name: string, value: string | null): readonly string[] | null {
  const text = annotations[`${OPTIONS_ANNOTATION}${name}`];
  if (text === undefined) return null;
  const listed = text.split(",").map((option) => option.trim());
  const options = [...new Set([...(value === null ? [] : [value]), ...listed])].filter((option) => option !== "");
  return options.length === 0 ? null : options;
}

function isBlock(value: string | null): boolean {
  return value !== null && (value.includes("\n") || value.length > LONG || BLOCK.test(value));
}

function generatedLook(from: string, mode: Mode): { readonly placeholder: string; readonly pattern: string | null } {
  let pieces: readonly Piece[];
  try {
    pieces = parseExpression(from, mode);
  } catch {
    return { placeholder: "generated if left empty", pattern: null };
  }
  const length = pieces.reduce((sum, piece) => sum + ("text" in piece ? piece.text.length : piece.count), 0);
  const pattern = pieces.map((piece) =>
    "text" in piece ? literal(piece.text) : `[${literal(piece.set).replaceAll("-", "\\-")}]{${piece.count}}`,
  );
  return { placeholder: `generated if left empty (${length} characters)`, pattern: `^${pattern.join("")}$` };
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
