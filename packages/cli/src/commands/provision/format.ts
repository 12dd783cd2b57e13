import {
  type Finding,
  formatFault,
  type JsonMap,
  MASK,
  maskTemplate,
  type PlannedObject,
  type Preflight,
  type ProcessedTemplate,
  placed,
  type TemplateFault,
  toYaml,
} from "@trawler/provision";

/** A template that was processed without an error. */
export interface Planned {
  readonly file: string;
  readonly template: ProcessedTemplate;
  /** What the cluster says of it; null where it was not asked. */
  readonly server: (Preflight & { readonly host: string }) | null;
}

/** Plans as a table for people; `namespace` is the target. */
export function formatPlans(plans: readonly Planned[], namespace: string | null, secrets: boolean): string {
  return plans.map((plan) => formatPlan(plan, namespace, secrets)).join("\n");
}

function formatPlan({ file, template, server }: Planned, namespace: string | null, secrets: boolean): string {
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
    ...(server === null ? objectTable(rows) : serverTable(server, secrets ? (name) => name : template.redact)),
    ...(values.length === 0 ? [] : ["", ...table([["PARAMETER", "VALUE", "FROM"], ...values])]),
    ...(message === null ? [] : ["", "Message:", ...message.split("\n").map((line) => `  ${line}`)]),
    ...(server === null ? [] : ["", ...verdict(server)]),
    "",
  ].join("\n");
}

function objectTable(rows: readonly (readonly string[])[]): readonly string[] {
  return rows.length === 0 ? ["No objects."] : table([["#", "VERSION", "KIND", "NAMESPACE", "NAME"], ...rows]);
}

/** Objects as the cluster places them: waves are numbered in the order of their creation. */
function serverTable({ objects, findings }: Preflight, clean: (text: string) => string): readonly string[] {
  if (objects.length === 0) return ["No objects."];
  const waves = [...new Set(objects.map(({ wave }) => wave))].toSorted((a, b) => a - b);
  const judged = !findings.some(({ severity, check }) => severity === "error" && EARLY.includes(check));
  const rows = objects.map((object) => [
    String(object.index),
    String(waves.indexOf(object.wave) + 1),
    object.type.apiVersion,
    object.type.kind,
    object.namespace ?? "-",
    clean(nameOf(object)),
    judgement(object, findings, judged),
  ]);
  return table([["#", "WAVE", "VERSION", "KIND", "NAMESPACE", "NAME", "SERVER"], ...rows]);
}

/** Checks that come before the server is asked to judge each object. */
const EARLY: readonly Finding["check"][] = ["kind", "namespace", "duplicate", "rights", "server"];

function judgement(
  { index, existing, unjudged }: PlannedObject,
  findings: readonly Finding[],
  judged: boolean,
): string {
  const against = findings.some((finding) => finding.severity === "error" && finding.index === index);
  if (against) return "refused";
  if (existing) return "exists, left alone";
  if (!judged) return "not asked";
  return unjudged === null ? "accepted" : `not asked: ${unjudged}`;
}

function verdict({ host, findings }: Preflight & { readonly host: string }): readonly string[] {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const head =
    errors === 0
      ? `${host} would take it: kinds, namespaces, rights, quotas and a dry run of each object. Nothing was created.`
      : `${host} would not take it. Nothing was created.`;
  return [head, ...findings.map(({ severity, message }) => `  ${severity === "warning" ? "warning: " : ""}${message}`)];
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
    plans: plans.map(({ file, template, server }) => {
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
        ...(server === null ? {} : { server: serverData(server, secrets ? (text) => text : template.redact) }),
      };
    }),
    faults: faults.map((fault) => ({ ...fault, text: formatFault(fault) })),
  };
}

function serverData(
  { host, objects, findings }: Preflight & { readonly host: string },
  clean: (text: string) => string,
): JsonMap {
  return {
    host,
    objects: objects.map(({ index, type, namespace, name, generateName, wave, existing, unjudged }) => ({
      index,
      apiVersion: type.apiVersion,
      kind: type.kind,
      namespace,
      name: name === null ? null : clean(name),
      generateName,
      wave,
      existing,
      unjudged,
    })),
    findings: findings.map((finding) => ({ ...finding })),
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
