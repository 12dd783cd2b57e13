import { createHash } from "node:crypto";
import { isList, isMap, type JsonMap, type JsonValue } from "../json.ts";
import { describe } from "./describe.ts";
import { FaultList, pointer, printable } from "./faults.ts";
import { nearest } from "./nearest.ts";
import { readParameters } from "./parameters.ts";
import type { Path } from "./place.ts";
import { readText } from "./text.ts";
import type { FaultCode, Mode, Template, TemplateDocument, TemplateFault } from "./types.ts";

const VERSIONS = ["template.openshift.io/v1", "v1"];
const KEYS = ["apiVersion", "kind", "metadata", "message", "objects", "parameters", "labels", "status"];
const MAX_OBJECTS = 1_000;

/**
 * Reads a template and checks its shape: all faults at once, nothing substituted. Never throws.
 * @param file The name of the text in faults.
 */
export function readTemplate(text: string, file = "template", mode: Mode = "strict"): TemplateDocument {
  const source = readText(text);
  const make = (severity: TemplateFault["severity"], code: FaultCode, path: Path, message: string): TemplateFault => {
    // Values have no place in the text.
    if (code.startsWith("VALUE_")) return { ...makeFault(severity, code, path, message, file, null), file: null };
    return makeFault(severity, code, path, message, file, source.place(path));
  };
  const faults = new FaultList(make);
  const early = source.faults.map(({ code, path, message, place }) =>
    makeFault("error", code, path, message, file, place),
  );
  const digest = createHash("sha256").update(text).digest("hex");
  const root = source.value;
  const document = (template: Template): TemplateDocument => ({
    template,
    faults: [...early, ...faults.all],
    fault: make,
  });
  if (!isMap(root)) {
    if (early.length === 0)
      faults.error("NOT_A_TEMPLATE", [], `found ${describe(root)}; a template is a map with kind: Template`);
    return document({ ...NOTHING, digest });
  }
  checkHeader(root, faults);
  const metadata = field(root, "metadata", isMap, "a map", faults) ?? {};
  const annotations = texts(metadata["annotations"], ["metadata", "annotations"], faults);
  return document({
    name: typeof metadata["name"] === "string" ? metadata["name"] : null,
    description: annotations["description"] ?? null,
    displayName: annotations["openshift.io/display-name"] ?? null,
    annotations,
    message: field(root, "message", isText, "text", faults),
    labels: texts(root["labels"], ["labels"], faults),
    parameters: readParameters(root["parameters"], mode, faults, source.source),
    objects: readObjects(root["objects"], faults),
    digest,
  });
}

const NOTHING: Omit<Template, "digest"> = {
  name: null,
  description: null,
  displayName: null,
  annotations: {},
  message: null,
  labels: {},
  parameters: [],
  objects: [],
};

function makeFault(
  severity: TemplateFault["severity"],
  code: FaultCode,
  path: Path,
  message: string,
  file: string,
  place: { readonly line: number; readonly column: number } | null,
): TemplateFault {
  return {
    severity,
    code,
    message: printable(message, 500),
    file,
    line: place?.line ?? null,
    column: place?.column ?? null,
    path: printable(pointer(path), 500),
  };
}

function checkHeader(root: JsonMap, faults: FaultList): void {
  const { kind, apiVersion } = root;
  if (kind !== "Template") {
    faults.error(
      "NOT_A_TEMPLATE",
      "kind" in root ? ["kind"] : [],
      `kind is ${describe(kind)}; a template has kind: Template`,
    );
  }
  if (typeof apiVersion !== "string" || !VERSIONS.includes(apiVersion)) {
    faults.error(
      "NOT_A_TEMPLATE",
      "apiVersion" in root ? ["apiVersion"] : [],
      `apiVersion is ${describe(apiVersion)}; write ${VERSIONS[0]}`,
    );
  }
  for (const key of Object.keys(root)) {
    if (KEYS.includes(key)) continue;
    const near = nearest(key, KEYS);
    faults.warning(
      "INVALID",
      [key],
      `a template has no ${printable(key, 50)}${near === null ? "" : `; did you mean ${near}?`}`,
    );
  }
}

function readObjects(value: JsonValue | undefined, faults: FaultList): readonly JsonMap[] {
  if (value === undefined || value === null) return [];
  if (!isList(value)) {
    faults.error("INVALID", ["objects"], `objects is ${describe(value)}; it takes a list`);
    return [];
  }
  if (value.length > MAX_OBJECTS) {
    faults.error(
      "TOO_LARGE",
      ["objects"],
      `${value.length} objects; at most ${MAX_OBJECTS} are taken: split the template`,
    );
    return [];
  }
  // A wrong one stays, so that the places of the others are right.
  return value.map((object, index) => {
    if (!isMap(object)) {
      faults.error("INVALID", ["objects", index], `this object is ${describe(object)}; it takes a map`);
      return {};
    }
    const absent = ["kind", "apiVersion"].filter((key) => typeof object[key] !== "string" || object[key] === "");
    if (absent.length > 0) faults.error("INVALID", ["objects", index], `this object has no ${absent.join(" and no ")}`);
    return object;
  });
}

function texts(value: JsonValue | undefined, path: Path, faults: FaultList): Readonly<Record<string, string>> {
  const result: Record<string, string> = Object.create(null);
  if (value === undefined || value === null) return result;
  if (!isMap(value)) {
    faults.error("INVALID", path, `found ${describe(value)}; it takes a map of texts`);
    return result;
  }
  for (const [key, text] of Object.entries(value)) {
    if (typeof text === "string") result[key] = text;
    else faults.error("INVALID", [...path, key], `found ${describe(text)}; it takes a text: put it in quotes`);
  }
  return result;
}

function field<T extends JsonValue>(
  map: JsonMap,
  key: string,
  is: (value: JsonValue | undefined) => value is T,
  what: string,
  faults: FaultList,
): T | null {
  const value = map[key];
  if (value === undefined || value === null) return null;
  if (is(value)) return value;
  faults.error("INVALID", [key], `${key} is ${describe(value)}; it takes ${what}`);
  return null;
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string";
}
