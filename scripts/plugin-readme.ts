import type { Plugin } from "@trawler/plugin-api";

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A plugin's README: the sections Settings and Features come from the plugin's schemas; what stands before and after
 * them is written by hand. `found` = the file as it is, null where there is none yet.
 */
export function pluginReadme(packageName: string, plugin: Plugin, found: string | null): string {
  const text = found ?? `# ${packageName}\n\n${plugin.description}\n`;
  const start = text.indexOf("\n## Settings\n");
  const before = (start < 0 ? text : text.slice(0, start)).trimEnd();
  const next = start < 0 ? null : /\n## (?!Settings\n|Features\n)/.exec(text.slice(start));
  const after = next === null ? "" : `\n\n${text.slice(start + next.index + 1).trimEnd()}`;
  return `${before}\n\n${generated(plugin)}${after}\n`;
}

function generated(plugin: Plugin): string {
  const settings = rows(plugin.config["~standard"].jsonSchema.input({ target: "draft-2020-12" }));
  const table =
    settings.length === 0
      ? "None."
      : markdown(
          ["setting", "default", "meaning"],
          settings.map(({ path, schema }) => setting(path, schema)),
        );
  const parts = ["## Settings", table];
  if (plugin.kind === "crawler") {
    const where = {
      member: "Asked once per container (or host)",
      subject: "Asked once per pod (or container, or host)",
      both: "Asked for the pod and for each container (or host)",
    }[plugin.scope];
    const needs = plugin.needs.map((need) => `\`${need}\``).join(", ");
    parts.push("## Features", `${where}; needs ${needs === "" ? "nothing" : needs}.`);
    for (const [type, schema] of Object.entries(plugin.features)) {
      const fields = rows(schema["~standard"].jsonSchema.output({ target: "draft-2020-12" }));
      parts.push(
        `### \`${type}\``,
        markdown(
          ["field", "unit", "meaning"],
          fields.map(({ path, schema: field }) => [`\`${path}\``, found(field, "x-unit"), found(field, "description")]),
        ),
      );
    }
  }
  return parts.join("\n\n");
}

function setting(path: string, schema: JsonSchema): readonly string[] {
  const { default: value, description } = schema;
  const shown = value === undefined ? "" : `\`${JSON.stringify(value)}\``;
  return [`\`${path}\``, shown, typeof description === "string" ? description : ""];
}

/** Each leaf with its path; an object with named members stands as its members. */
function rows(schema: JsonSchema, prefix = ""): readonly { readonly path: string; readonly schema: JsonSchema }[] {
  return Object.entries(record(schema["properties"])).flatMap(([name, value]) => {
    const path = `${prefix}${name}`;
    const member = record(value);
    const inner = rows(member, `${path}.`);
    return inner.length > 0 ? inner : [{ path, schema: member }];
  });
}

/** A table whose columns are as wide as their widest cell, so that it is read as plain text too. */
function markdown(head: readonly string[], body: readonly (readonly string[])[]): string {
  const lines = [head, ...body].map((cells) => cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")));
  const widths = head.map((_, column) => Math.max(3, ...lines.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width)).join(" | ")} |`;
  const [first = [], ...rest] = lines;
  return [line(first), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rest.map(line)].join("\n");
}

function record(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null ? (value as JsonSchema) : {};
}

/** A word of a schema, or of one of the alternatives that it leaves. */
function found(schema: JsonSchema, key: string): string {
  const { [key]: value, anyOf } = schema;
  if (typeof value === "string") return value;
  if (!Array.isArray(anyOf)) return "";
  return anyOf.map((one) => found(record(one), key)).find((word) => word !== "") ?? "";
}
