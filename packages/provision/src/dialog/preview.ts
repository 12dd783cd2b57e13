import { printable } from "../template/faults.ts";
import { MASK } from "../template/redact.ts";
import type { Dialog, Field } from "./types.ts";

const BOX = 28;
const MOST_NAMES = 20;

/** The form as text, for a terminal: what a person would see, before anything is built. */
export function previewDialog(dialog: Dialog): string {
  const { title, description, fields, creates, namespaces, message } = dialog;
  const used = fields.filter(({ unused }) => !unused);
  const unused = fields.filter((field) => field.unused);
  const width = Math.max(14, ...fields.map(({ label, required }) => line(label).length + (required ? 2 : 0))) + 2;
  const rows = (list: readonly Field[]): readonly string[] => list.flatMap((field) => row(field, width));
  return [
    line(title),
    ...(description === null ? [] : [`  ${line(description)}`]),
    "",
    "Target (one of)",
    `  ${"Namespace".padEnd(width)}${box("")}${namespaces === null ? "" : ` v  ${among(namespaces)}`}`,
    `  ${"New namespace".padEnd(width)}${box("")}`,
    ...(used.length === 0 ? [] : ["", "Parameters (* required)", ...rows(used)]),
    ...(unused.length === 0 ? [] : ["", "Unused: the template never refers to these", ...rows(unused)]),
    "",
    "Creates",
    ...(creates.length === 0 ? ["  nothing"] : []),
    ...creates.map(
      ({ kind, apiVersion, count, clusterScoped, mayCreate }) =>
        `  ${count} ${line(kind)} (${line(apiVersion)})${clusterScoped ? ", in the whole cluster" : ""}${mayCreate === false ? ": you may not create it" : ""}`,
    ),
    ...(message === null ? [] : ["", "Message", ...message.split("\n").map((text) => `  ${line(text)}`)]),
    "",
  ].join("\n");
}

function among(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).map(line).join(" | ")}${more > 0 ? ` | and ${more} more` : ""}`;
}

function row(field: Field, width: number): readonly string[] {
  const label = `${line(field.label)}${field.required ? " *" : ""}`.padEnd(width);
  const notes = [
    field.label === field.name ? null : field.name,
    field.help === null ? null : line(field.help),
    range(field),
    field.secret ? "secret" : null,
  ].filter((note) => note !== null);
  const value = control(field);
  return [`  ${label}${value}`, ...(notes.length === 0 ? [] : [`  ${" ".repeat(width)}${notes.join(" · ")}`])];
}

function control(field: Field): string {
  if (field.control === "switch") return field.default === true ? "[x] on" : "[ ] off";
  if (field.control === "select")
    return `${box(String(field.default ?? ""))} v  ${(field.options ?? []).map(line).join(" | ")}`;
  const value = field.secret && field.placeholder === MASK ? MASK : String(field.default ?? "");
  const lines = value.split("\n");
  const more = field.multiline ? `  (text of ${lines.length} lines)` : "";
  return `${box(lines[0] ?? "")}${more}${field.generated && field.placeholder !== null ? `  ${field.placeholder}` : ""}`;
}

function range({ minimum, maximum, maxLength, control: kind, pattern }: Field): string | null {
  if (minimum !== null) return maximum === null ? `${minimum} or more` : `${minimum} to ${maximum}`;
  if (kind === "quantity") return "a quantity, such as 512Mi";
  if (kind === "code") return "JSON";
  return pattern === null
    ? null
    : `lower-case letters, digits and -${maxLength === null ? "" : `, at most ${maxLength}`}`;
}

function box(text: string): string {
  const short = line(text);
  return `[${short.length > BOX ? `${short.slice(0, BOX - 1)}…` : short.padEnd(BOX)}]`;
}

function line(text: string): string {
  return printable(text, 200);
}
