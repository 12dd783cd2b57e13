import { isList, isMap, isRawNumber, type JsonValue, parseJson } from "../json.ts";
import { nearest } from "../template/nearest.ts";
import { DNS_LABEL } from "./field.ts";
import type { AnswerFault, AnswerResult, Dialog, Field, Target } from "./types.ts";

const MAX_ANSWER = 1024 ** 2;

/**
 * Checks answers of a form by the same rules as its schema and turns them into values. An answer that is missing or
 * empty is not given (so that a default or a generator applies), unless `empty` lists its name. All faults at once.
 */
export function readAnswers(dialog: Dialog, answers: JsonValue): AnswerResult {
  const faults: AnswerFault[] = [];
  const root = isMap(answers) ? answers : {};
  if (!isMap(answers)) faults.push({ path: "", message: "the answers are no map; give target and parameters" });
  for (const key of Object.keys(root)) {
    if (!["target", "parameters", "empty"].includes(key))
      faults.push({ path: "", message: `there is no ${key.slice(0, 50)}; give target, parameters and empty` });
  }
  const target = readTarget(root["target"], faults);
  const parameters = root["parameters"] ?? {};
  if (!isMap(parameters)) faults.push({ path: "/parameters", message: "parameters is no map; give answers by name" });
  const given = isMap(parameters) ? parameters : {};
  const empty = readEmpty(dialog, root["empty"], faults);
  for (const name of Object.keys(given)) checkName(dialog, name, "/parameters", faults);
  const values = dialog.fields.flatMap((field): readonly (readonly [string, string])[] => {
    const answer = given[field.name];
    const path = `/parameters/${field.name}`;
    if (answer === undefined || answer === null || answer === "") {
      if (empty.has(field.name)) return [[field.name, ""]];
      if (field.control === "namespace" && field.default === null && target !== null)
        return [[field.name, target.namespace]];
      if (field.required) faults.push({ path, message: `${field.label} is required` });
      return [];
    }
    const text = answerText(field, answer);
    const wrong = text === null ? `takes ${kindOfAnswer(field)}` : checkText(field, text);
    if (wrong !== null) faults.push({ path, message: `${field.label} ${wrong}` });
    return text === null ? [] : [[field.name, text]];
  });
  return { target, values: faults.length === 0 ? values : [], faults };
}

/** The answers that values stand for: the other way around. Values that a field cannot hold stay texts. */
export function answersOf(
  dialog: Dialog,
  values: readonly (readonly [name: string, value: string])[],
): Readonly<Record<string, JsonValue>> {
  const fields = new Map(dialog.fields.map((field) => [field.name, field]));
  const answers: Record<string, JsonValue> = Object.create(null);
  for (const [name, value] of values) {
    const type = fields.get(name)?.type;
    if (type === "boolean" && (value === "true" || value === "false")) answers[name] = value === "true";
    else if ((type === "integer" || type === "number") && isNumber(value)) answers[name] = parseJson(value);
    else answers[name] = value;
  }
  return answers;
}

function readTarget(value: JsonValue | undefined, faults: AnswerFault[]): Target | null {
  const one = "choose a namespace, or name a new one: exactly one of target.namespace and target.newNamespace";
  const { namespace, newNamespace } = isMap(value) ? value : {};
  const name = namespace ?? newNamespace;
  if (typeof name !== "string" || (namespace !== undefined && newNamespace !== undefined)) {
    faults.push({ path: "/target", message: one });
    return null;
  }
  if (!new RegExp(DNS_LABEL).test(name) || name.length > 63) {
    const path = namespace === undefined ? "/target/newNamespace" : "/target/namespace";
    faults.push({ path, message: "a namespace has up to 63 lower-case letters, digits and -" });
    return null;
  }
  return { namespace: name, create: namespace === undefined };
}

function readEmpty(dialog: Dialog, value: JsonValue | undefined, faults: AnswerFault[]): ReadonlySet<string> {
  const names = new Set<string>();
  if (value === undefined) return names;
  if (!isList(value)) faults.push({ path: "/empty", message: "empty is no list; give names of parameters" });
  for (const name of isList(value) ? value : []) {
    if (typeof name !== "string" || !checkName(dialog, name, "/empty", faults)) continue;
    const field = dialog.fields.find((other) => other.name === name);
    if (field?.required === true)
      faults.push({ path: "/empty", message: `${field.label} is required and cannot be empty` });
    else names.add(name);
  }
  return names;
}

function checkName({ fields }: Dialog, name: string, path: string, faults: AnswerFault[]): boolean {
  const names = fields.map((field) => field.name);
  if (names.includes(name)) return true;
  const near = nearest(name, names);
  faults.push({
    path,
    message: `there is no parameter ${name.slice(0, 60)}${near === null ? "" : `; did you mean ${near}?`}`,
  });
  return false;
}

function answerText({ type }: Field, answer: JsonValue): string | null {
  if (type === "boolean") return typeof answer === "boolean" ? String(answer) : null;
  if (type === "string") return typeof answer === "string" ? answer : null;
  if (isRawNumber(answer)) return answer.rawJSON;
  return typeof answer === "number" ? JSON.stringify(answer) : null;
}

function kindOfAnswer({ type }: Field): string {
  if (type === "boolean") return "true or false";
  return type === "string" ? "a text" : "a number";
}

/** What is wrong with a text; null where nothing is. */
function checkText(field: Field, text: string): string | null {
  const { options, pattern, minimum, maximum, maxLength, type, control } = field;
  if (text.length > (maxLength ?? MAX_ANSWER)) return `takes at most ${maxLength ?? MAX_ANSWER} characters`;
  if (options !== null && !options.includes(text)) return `takes one of ${options.slice(0, 20).join(", ")}`;
  if (pattern !== null && !new RegExp(pattern).test(text))
    return control === "quantity" ? "takes a quantity, such as 512Mi" : "takes lower-case letters, digits and -";
  if (control === "code" && !isJson(text)) return "takes JSON";
  if (type !== "integer" && type !== "number") return null;
  if (type === "integer" && !/^-?\d+$/.test(text)) return "takes an integer";
  if (minimum !== null && Number(text) < minimum) return `takes ${minimum} at least`;
  return maximum !== null && Number(text) > maximum ? `takes ${maximum} at most` : null;
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

function isNumber(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text);
}
