import { type Item, type Report, titleOf, type Until, WORDS } from "@trawler/provision";

/** The report of a run for people: every object with type and id in the order of the template, then what is left. */
export function formatReport(report: Report): string {
  const lines = [headOf(report)];
  if (report.headline !== null) lines.push(`  why: ${report.headline}`);
  if (report.rollback !== "notNeeded") lines.push(`  rollback: ${ROLLBACK[report.rollback]}`);
  if (report.objects.some(actsElsewhere)) lines.push(`  ${NOT_UNDONE}`);
  if (report.ready !== null) {
    const { ready, total, timedOut } = report.ready;
    const goal = report.settings.until === "ready" ? "ready" : "seen";
    lines.push(`  ${goal}: ${ready} of ${total}${timedOut ? ", then the time was over" : ""}`);
  }
  lines.push("", ...table(report.objects, report.settings.until), ...section("Warnings", report.warnings));
  for (const { index, lines: evidence } of report.evidence) {
    const item = report.objects[index];
    lines.push(...section(`Evidence of ${item === undefined ? index : titleOf(item)}`, evidence));
  }
  const left = report.leftovers.flatMap(({ command, why }) => [`${command}`, `  # ${why}`]);
  return `${[...lines, ...section(`Left in the cluster; trawl provision rollback ${report.instance} removes it where it may, else by hand`, left)].join("\n")}\n`;
}

const ROLLBACK = {
  notNeeded: "not needed",
  notRequested: "not asked for",
  complete: "complete, nothing of this run is left",
  incomplete: "incomplete",
} as const;

/** What the server keeps and nothing acts on: to remove it undoes all of it. */
const QUIET: readonly string[] = [
  "Namespace",
  "ConfigMap",
  "Secret",
  "ServiceAccount",
  "Role",
  "RoleBinding",
  "ClusterRole",
  "ClusterRoleBinding",
  "LimitRange",
  "ResourceQuota",
  "PriorityClass",
];
const NOT_UNDONE = "not undone: what its containers, controllers and webhooks did elsewhere while it was there";

function actsElsewhere({ status, type }: Item): boolean {
  return status === "rolledBack" && !QUIET.includes(type.kind);
}

function headOf({ instance, template, state, namespace }: Report): string {
  const where = namespace === null ? "" : ` in ${namespace}`;
  return `${state} ${template ?? "template"}${where}, instance ${instance}`;
}

function table(items: readonly Item[], until: Until): readonly string[] {
  const rows = items.map((item) => [
    String(item.index + 1),
    titleOf(item),
    item.uid ?? "-",
    stateOf(item, until),
    item.error === null ? "" : `${item.error.reason}: ${item.error.message}`,
  ]);
  const all = [["#", "OBJECT", "ID", "STATE", ""], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

export function stateOf({ status, ready }: Item, until: Until): string {
  if (status !== "created" || ready === null) return WORDS[status];
  const goal = until === "inventory" ? "seen" : "ready";
  return ready ? goal : `created, not ${goal}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", `${title}:`, ...lines.map((line) => `  ${line}`)];
}
