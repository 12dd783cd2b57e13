import { generate, parseExpression } from "./expression.ts";
import type { FaultList } from "./faults.ts";
import { nearest } from "./nearest.ts";
import { checkGenerator, MAX_VALUE } from "./parameters.ts";
import type { Mode, Parameter, ParameterValue, RandomInteger, Template } from "./types.ts";

interface ValueOptions {
  readonly mode: Mode;
  readonly given: readonly (readonly [name: string, value: string])[];
  readonly ignoreUnknown: boolean;
  readonly random: RandomInteger;
  readonly secrets: ReadonlySet<string>;
}

/**
 * Gives every parameter its value: the given one, else the default, else a generated one. A given value switches the
 * generator off, an empty one too. Faults never hold a value.
 */
export function parameterValues(
  template: Template,
  options: ValueOptions,
  faults: FaultList,
): readonly ParameterValue[] {
  const given = givenValues(template, options, faults);
  return template.parameters.map((parameter, index) => {
    const result = decide(parameter, index, given.get(parameter.name), options, faults);
    if (parameter.required && result.value === "") {
      faults.error(
        "PARAMETER_REQUIRED",
        ["parameters", index],
        `${parameter.name} is required and has no value; give one, such as -p ${parameter.name}=…`,
      );
    }
    return { name: parameter.name, ...result, secret: options.secrets.has(parameter.name) };
  });
}

function decide(
  parameter: Parameter,
  index: number,
  given: string | undefined,
  { mode, random }: ValueOptions,
  faults: FaultList,
): Pick<ParameterValue, "value" | "source"> {
  if (given !== undefined) return { value: given, source: "given" };
  if (parameter.value !== null) return { value: parameter.value, source: "default" };
  if (parameter.generate === null) return { value: "", source: "empty" };
  if (mode === "compat") checkGenerator(parameter, ["parameters", index], mode, faults);
  try {
    const value =
      parameter.generate === "expression" ? generate(parseExpression(parameter.from ?? "", mode), random) : "";
    return { value, source: value === "" ? "empty" : "generated" };
  } catch {
    // Told already, by the check of the generator; the value is never used.
    return { value: "?", source: "generated" };
  }
}

function givenValues(
  { parameters }: Template,
  { given, ignoreUnknown }: ValueOptions,
  faults: FaultList,
): ReadonlyMap<string, string> {
  const names = parameters.map(({ name }) => name);
  const known = new Set(names);
  const values = new Map<string, string>();
  for (const [name, value] of given) {
    if (!known.has(name)) {
      const near = nearest(name, names);
      const hint =
        near === null ? (names.length === 0 ? "it has none" : `it has ${list(names)}`) : `did you mean ${near}?`;
      if (!ignoreUnknown)
        faults.error("VALUE_UNKNOWN", [], `the template has no parameter ${name.slice(0, 60)}; ${hint}`);
    } else if (values.has(name)) {
      faults.error("VALUE_DUPLICATE", [], `two values are given for ${name}; give one`);
    } else if (value.length > MAX_VALUE) {
      faults.error("TOO_LARGE", [], `the value of ${name} has more than ${MAX_VALUE} characters`);
    } else values.set(name, value);
  }
  return values;
}

function list(names: readonly string[]): string {
  return names.length > 10 ? `${names.slice(0, 10).join(", ")} and ${names.length - 10} more` : names.join(", ");
}
