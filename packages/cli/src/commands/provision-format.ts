import {
  formatFault,
  type JsonMap,
  MASK,
  maskTemplate,
  type ProcessedTemplate,
  placed,
  type TemplateFault,
  toYaml,
} from "@trawler/provision";

/** A template that was processed without an error. */
export interface Planned {
  readonly file: string;
  readonly template: ProcessedTemplate;
}

/** Plans as a table for people; `namespace` is the target. */
export function formatPlans(plans: readonly Planned[], namespace: string | null, secrets: boolean): string {
  return plans.map((plan) => formatPlan(plan, namespace, secrets)).join("\n");
}

function formatPlan({ file, template }: Planned, namespace: string | null, secrets: boolean): string {
  const { template: source, mode, objects, parameters, message } = secrets ? template : maskTemplate(template);
  const rows = objects.map((object) => [
    String(object.index),
    object.apiVersion,
    object.kind,
    object.namespace ?? "-",
    secrets ? nameOf(object) : template.redact(nameOf(object)),
  ]);
  const values = parameters.map(({ name, value, source: from, secret }) => [
    name,
    shorten(secret && !secrets && value !== "" ? MASK : value),
    from,
  ]);
  return [
    `${source.displayName ?? source.name ?? file} (${file}, ${mode} mode)`,
    namespace === null ? "no target namespace is given" : `into namespace ${namespace}`,
    "",
    ...(rows.length === 0 ? ["No objects."] : table([["#", "VERSION", "KIND", "NAMESPACE", "NAME"], ...rows])),
    ...(values.length === 0 ? [] : ["", ...table([["PARAMETER", "VALUE", "FROM"], ...values])]),
    ...(message === null ? [] : ["", "Message:", ...message.split("\n").map((line) => `  ${line}`)]),
    "",
  ].join("\n");
}

function nameOf({
  name,
  generateName,
}: {
  readonly name: string | null;
  readonly generateName: string | null;
}): string {
  return name ?? (generateName === null ? "-" : `${generateName}*`);
}

/** Plans as data: the same for JSON and YAML. */
export function planData(plans: readonly Planned[], faults: readonly TemplateFault[], secrets: boolean): JsonMap {
  return {
    plans: plans.map(({ file, template }) => {
      const {
        template: source,
        mode,
        objects,
        parameters,
        message,
        labels,
      } = secrets ? template : maskTemplate(template);
      return {
        file,
        name: source.name,
        digest: source.digest,
        mode,
        message,
        labels,
        parameters: parameters.map(({ name, value, source: from, secret }) => ({ name, value, source: from, secret })),
        objects: objects.map((object) => ({
          index: object.index,
          path: object.path,
          apiVersion: object.apiVersion,
          kind: object.kind,
          namespace: object.namespace,
          name: secrets || object.name === null ? object.name : template.redact(object.name),
          generateName: object.generateName,
          body: placed(object),
        })),
      };
    }),
    faults: faults.map((fault) => ({ ...fault, text: formatFault(fault) })),
  };
}

export function printYaml(data: JsonMap): string {
  return toYaml(data);
}

function shorten(text: string): string {
  const [line = "", ...rest] = text.split("\n");
  return rest.length > 0 || line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map(
    (row) =>
      `  ${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()}`,
  );
}
