/** What this reads of a JSON Schema. */
interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** The README of the chart: one row for each value, from the schema that Helm checks values against. */
export function chartReadme(schema: Schema): string {
  const rows = rowsOf("", schema).map((cells) => `| ${cells.map(cell).join(" | ")} |`);
  return `<!-- Written by \`npm run generate\` from values.schema.json. -->
# The chart \`trawler\`

One agent on each node of a cluster, and with it, where you want them, the inventory and the provision service. How they are installed, and which \`tier\` you need: [docs/install.md](../../../docs/install.md).

| value | takes | default | meaning |
|---|---|---|---|
${rows.join("\n")}
`;
}

function rowsOf(prefix: string, { properties = {} }: Schema): string[][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const key = `${prefix}${name}`;
    if (schema.properties !== undefined) return rowsOf(`${key}.`, schema);
    const preset = schema.default === undefined ? "" : `\`${JSON.stringify(schema.default)}\``;
    return [[`\`${key}\``, takes(schema), preset, schema.description ?? ""]];
  });
}

function takes({ enum: choices, type, items }: Schema): string {
  if (choices !== undefined) return choices.map((choice) => (choice === "" ? "empty" : choice)).join(", ");
  if (type === undefined) return "number or text";
  if (typeof type !== "string") return type.join(" or ");
  return type === "array" ? `array of ${takes(items ?? {})}` : type;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
