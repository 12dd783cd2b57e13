import { isList, isMap, type JsonMap, type JsonValue } from "../json.ts";
import { describe } from "./describe.ts";
import { checkExpression } from "./expression.ts";
import { type FaultList, printable } from "./faults.ts";
import type { Path } from "./place.ts";
import type { Mode, Parameter } from "./types.ts";

const NAME = /^[a-zA-Z0-9_]+$/;
/** Longest value, characters. */
export const MAX_VALUE: number = 1024 ** 2;

/** Reads and checks `parameters`. Wrong ones stay as far as they can be told, so that their references are known. */
export function readParameters(
  value: JsonValue | undefined,
  mode: Mode,
  faults: FaultList,
  source: (path: Path) => string | null,
): readonly Parameter[] {
  if (value === undefined || value === null) return [];
  if (!isList(value)) {
    faults.error("INVALID", ["parameters"], `parameters is ${describe(value)}; it takes a list`);
    return [];
  }
  const names = new Set<string>();
  return value.flatMap((item, index) => {
    const path = ["parameters", index];
    if (!isMap(item)) {
      faults.error("INVALID", path, `this parameter is ${describe(item)}; it takes a map with a name`);
      return [];
    }
    const parameter = readParameter(item, path, mode, faults, source);
    if (names.has(parameter.name)) {
      const message = `a second parameter ${parameter.name}; remove one of them`;
      if (mode === "strict") faults.error("PARAMETER_DUPLICATE", [...path, "name"], message);
      else faults.warning("PARAMETER_DUPLICATE", [...path, "name"], `${message} (the last one wins)`);
    }
    names.add(parameter.name);
    return parameter.name === "" ? [] : [parameter];
  });
}

function readParameter(
  map: JsonMap,
  path: Path,
  mode: Mode,
  faults: FaultList,
  source: (path: Path) => string | null,
): Parameter {
  const text = (key: string): string | null => {
    const value = map[key];
    if (value === undefined || value === null) return null;
    if (typeof value === "string") return value === "" ? null : value;
    faults.error("INVALID", [...path, key], `${key} is ${describe(value)}; it takes a text: put it in quotes`);
    return null;
  };
  const { required } = map;
  if (required !== undefined && required !== null && typeof required !== "boolean")
    faults.error("INVALID", [...path, "required"], `required is ${describe(required)}; it takes true or false`);
  const name = text("name") ?? "";
  if (!NAME.test(name)) {
    const found = name === "" ? "this parameter has no name" : `${printable(name, 50)} is no name`;
    faults.error("PARAMETER_NAME", name === "" ? path : [...path, "name"], `${found}; letters, digits and _ make one`);
  }
  const parameter = {
    name,
    displayName: text("displayName"),
    description: text("description"),
    value: readValue(map["value"], [...path, "value"], mode, faults, source),
    generate: text("generate"),
    from: text("from"),
    required: required === true,
  };
  if (mode === "strict") checkGenerator(parameter, path, mode, faults);
  return parameter;
}

function readValue(
  value: JsonValue | undefined,
  path: Path,
  mode: Mode,
  faults: FaultList,
  source: (path: Path) => string | null,
): string | null {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "string") {
    if (value.length <= MAX_VALUE) return value;
    faults.error("TOO_LARGE", path, `a value of more than ${MAX_VALUE} characters; mount a file instead`);
    return null;
  }
  if (isList(value) || isMap(value)) {
    faults.error("PARAMETER_VALUE", path, `value is ${describe(value)}; write it as JSON in a text`);
    return null;
  }
  if (mode === "compat") {
    faults.error("PARAMETER_VALUE", path, `value is ${describe(value)}; it takes a text: put it in quotes`);
    return null;
  }
  faults.warning(
    "PARAMETER_VALUE",
    path,
    `value is ${describe(value)} and is taken as the text that is written; put it in quotes`,
  );
  return source(path) ?? JSON.stringify(value);
}

/** In strict mode a generator is judged even where a value switches it off; in compat mode only when it is to run. */
export function checkGenerator({ name, generate, from }: Parameter, path: Path, mode: Mode, faults: FaultList): void {
  if (generate === null) return;
  if (generate !== "expression") {
    faults.error(
      "GENERATOR_UNKNOWN",
      [...path, "generate"],
      `${name}: there is no generator ${printable(generate, 50)}; write expression`,
    );
    return;
  }
  const fault = checkExpression(from ?? "", mode);
  if (fault !== null) faults.error("GENERATOR_EXPRESSION", [...path, "from"], `${name}: ${fault}`);
}
