import type { Gap, InventoryRecord, QueryAnswer } from "@trawler/inventory";
import type { ClockSkew } from "@trawler/kube";
import type { Paint } from "../../plan.ts";
import type { Unknown } from "./known.ts";

/** Columns of a table or of CSV. */
interface Column {
  readonly title: string;
  readonly text: (record: InventoryRecord, now: number) => string;
}

const TABLE: readonly Column[] = [
  { title: "NAMESPACE", text: ({ namespace }) => namespace ?? "-" },
  { title: "NAME", text: ({ name }) => name },
  { title: "STATE", text: stateOf },
  { title: "EXIT", text: ({ exitCode }) => (exitCode === null ? "-" : String(exitCode)) },
  { title: "NODE", text: ({ node }) => node ?? "-" },
  { title: "OWNER", text: ({ owners }) => ownerOf(owners.at(-1)) },
  { title: "CPU", text: ({ used }) => (used?.cpuSeconds == null ? "-" : `${used.cpuSeconds.toFixed(2)}s`) },
  { title: "MEMORY", text: ({ used }) => (used?.memoryBytes == null ? "-" : binary(used.memoryBytes)) },
  { title: "SEEN", text: ({ firstSeenAt }, now) => ago(now - firstSeenAt) },
  { title: "GONE", text: ({ end }, now) => (end === null ? "-" : ago(now - end.observedAt)) },
  { title: "EVIDENCE", text: ({ end }) => (end === null ? "-" : end.evidence) },
  { title: "UID", text: ({ uid }) => uid },
];

const CSV: readonly Column[] = [
  { title: "cluster", text: ({ cluster }) => cluster },
  { title: "kind", text: ({ kind }) => kind },
  { title: "uid", text: ({ uid }) => uid },
  { title: "namespace", text: ({ namespace }) => namespace ?? "" },
  { title: "name", text: ({ name }) => name },
  { title: "node", text: ({ node }) => node ?? "" },
  { title: "owner_kind", text: ({ owners }) => owners.at(-1)?.kind ?? "" },
  { title: "owner_name", text: ({ owners }) => owners.at(-1)?.name ?? "" },
  { title: "phase", text: ({ phase }) => phase ?? "" },
  { title: "reason", text: ({ reason }) => reason ?? "" },
  { title: "exit_code", text: ({ exitCode }) => (exitCode === null ? "" : String(exitCode)) },
  { title: "created_at", text: ({ createdAt }) => createdAt ?? "" },
  { title: "first_seen_at", text: ({ firstSeenAt }) => iso(firstSeenAt) },
  { title: "last_seen_at", text: ({ lastSeenAt }) => iso(lastSeenAt) },
  { title: "ended_at", text: ({ end }) => (end === null ? "" : iso(end.observedAt)) },
  { title: "ended_not_before", text: ({ end }) => (end === null ? "" : iso(end.notBefore)) },
  { title: "ended_not_after", text: ({ end }) => (end === null ? "" : iso(end.notAfter)) },
  { title: "evidence", text: ({ end }) => end?.evidence ?? "" },
  { title: "final_state", text: ({ end }) => end?.finalState ?? "" },
  { title: "cpu_seconds", text: ({ used }) => String(used?.cpuSeconds ?? "") },
  { title: "memory_bytes", text: ({ used }) => String(used?.memoryBytes ?? "") },
  { title: "gaps", text: ({ gaps }) => gaps.join(" ") },
];

export function formatTable(
  answer: QueryAnswer & { readonly unknown: Unknown | null },
  now: number,
  { strong, faint }: Paint,
): string {
  const rows = answer.records.map((record) => TABLE.map(({ text }) => clean(text(record, now))));
  const { records, gaps, complete, next, unknown } = answer;
  const foot = [
    `${records.length} record${records.length === 1 ? "" : "s"}${next === null ? "" : `, and more: --after ${next}`}`,
    ...(complete || gaps.length === 0
      ? []
      : [`complete: no, it meets ${gaps.length} gap${gaps.length === 1 ? "" : "s"}: trawl inventory gaps`]),
    ...(unknown === null ? [] : [`complete: no, ${sinceOf(unknown, now)}`]),
  ];
  const titles = TABLE.map(({ title }) => title);
  return `${records.length === 0 ? "" : grid(titles, rows, strong)}${foot.map(faint).join("\n")}\n`;
}

export function formatCsv({ records }: QueryAnswer, now: number): string {
  const lines = records.map((record) => CSV.map(({ text }) => csvField(text(record, now))).join(","));
  return [CSV.map(({ title }) => title).join(","), ...lines, ""].join("\r\n");
}

export function formatGaps(
  gaps: readonly Gap[],
  unknown: readonly Unknown[],
  now: number,
  { strong, faint }: Paint,
): string {
  const open = unknown.map((one) => faint(`${one.kind}: ${sinceOf(one, now)}`));
  if (gaps.length === 0 && open.length === 0)
    return "No gaps: everything that the server put on the wire was received.\n";
  if (gaps.length === 0) return `No gaps that are over.\n${open.join("\n")}\n`;
  const rows = gaps.map((gap) => [
    String(gap.id),
    gap.stream,
    gap.reason,
    iso(gap.from),
    iso(gap.to),
    ago(gap.to - gap.from),
    `${gap.fromVersion ?? "-"} → ${gap.toVersion ?? "-"}`,
  ]);
  const notes = Map.groupBy(gaps, ({ note }) => note);
  const foot = [...notes].map(([note, told]) => faint(`${told.map(({ id }) => id).join(", ")}: ${clean(note)}`));
  return `${grid(["ID", "STREAM", "REASON", "FROM", "TO", "LENGTH", "VERSIONS"], rows, strong)}${[...foot, ...open].join("\n")}\n`;
}

/** `what came in the last 2m0s is not known: no collector runs here`. */
function sinceOf({ from, reason }: Unknown, now: number): string {
  const what = from === null ? "nothing is known yet" : `what came in the last ${ago(now - from)} is not known`;
  return `${what}: ${clean(reason)}`;
}

/** `clock: 2.3 s behind the API server's (± 0.2 s)`. */
export function formatSkew({ milliseconds, uncertainty }: ClockSkew): string {
  const seconds = (value: number): string => `${(value / 1000).toFixed(1)} s`;
  const within = Math.abs(milliseconds) <= uncertainty;
  const far = within
    ? "that of the API server"
    : `${seconds(Math.abs(milliseconds))} ${milliseconds > 0 ? "behind" : "ahead of"} the API server's`;
  return `clock: ${far} (± ${seconds(uncertainty)})`;
}

export function grid(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  strong: (text: string) => string,
): string {
  const widths = titles.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, index) => (index === cells.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join("  ");
  return `${[strong(line(titles)), ...rows.map(line)].join("\n")}\n`;
}

/** `Succeeded`, `Failed (Evicted)`, `Running`; `terminating` while it has a deletion time and is not gone. */
function stateOf({ phase, reason, end, deletionTimestamp }: InventoryRecord): string {
  const base = phase ?? (end === null ? "exists" : "gone");
  const why = reason === null ? "" : ` (${reason})`;
  return end === null && deletionTimestamp !== null ? `${base}${why}, terminating` : `${base}${why}`;
}

function ownerOf(owner: { readonly kind: string; readonly name: string } | undefined): string {
  return owner === undefined ? "-" : `${owner.kind}/${owner.name}`;
}

/** Two units at most: `3s`, `5m10s`, `2h3m`, `4d2h`. */
export function ago(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
  return `${Math.floor(seconds / 86_400)}d${Math.floor((seconds % 86_400) / 3600)}h`;
}

/** `12.4Mi`, as Kubernetes writes quantities. */
export function binary(bytes: number): string {
  const units = ["", "Ki", "Mi", "Gi", "Ti"];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)}${units[unit]}`;
}

export function iso(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? "?" : date.toISOString();
}

/** Names come from strangers: nothing of them may move a terminal's cursor. */
export function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}

/** A field that begins like a formula must not become one in a spreadsheet. */
function csvField(value: string): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
