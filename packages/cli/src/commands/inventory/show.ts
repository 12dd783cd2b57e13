import type { RecordDetail } from "@trawler/inventory";
import { isRecord } from "@trawler/kube";
import { TrawlerError } from "@trawler/plugin-api";
import type { Paint } from "../../plan.ts";
import type { World } from "../../world.ts";
import type { CommonOptions } from "../common.ts";
import { ago, binary, clean, iso } from "./format.ts";
import { openInventory, paint } from "./query.ts";

/** `trawl inventory show UID`. 1 where there is no such record. */
export async function inventoryShow(
  uid: string,
  options: CommonOptions & { readonly output: "text" | "json" },
  world: World,
): Promise<number> {
  const { reader, settings } = await openInventory(options, world);
  await using store = reader;
  const records = await store.show(uid);
  if (records.length === 0) {
    throw new TrawlerError("TRAWLER_UNSUPPORTED", `cluster ${settings.cluster} has no record of ${uid}`);
  }
  const text =
    options.output === "json"
      ? `${JSON.stringify(records, null, 2)}\n`
      : records.map((record) => formatDetail(record, paint(world))).join("\n");
  await world.stdout.write(text);
  return 0;
}

function formatDetail(record: RecordDetail, { strong, faint }: Paint): string {
  const row = (label: string, text: string): string => `  ${faint(label.padEnd(12))}${clean(text)}`;
  const { end } = record;
  const name = `${record.kind} ${record.namespace === null ? "" : `${record.namespace}/`}${record.name}`;
  const lines = [
    `${strong(clean(name))}  ${faint(record.uid)}`,
    row("cluster", `${record.cluster}, epoch ${record.epoch}`),
    row(
      "state",
      `${record.phase ?? (end === null ? "exists" : "gone")}${record.reason === null ? "" : ` (${record.reason})`}`,
    ),
    row("node", record.node ?? "-"),
    row("owners", record.owners.map(({ kind, name: owner }) => `${kind}/${owner}`).join(" < ") || "-"),
    row("created", record.createdAt ?? "-"),
    row("seen", `${iso(record.firstSeenAt)} to ${iso(record.lastSeenAt)}, ${record.updates} updates`),
    row("gone", end === null ? "no" : `${iso(end.observedAt)} by ${end.evidence}, final state ${end.finalState}`),
  ];
  if (end !== null && end.notBefore !== end.notAfter) {
    lines.push(
      row("", `between ${iso(end.notBefore)} and ${iso(end.notAfter)} (${ago(end.notAfter - end.notBefore)})`),
    );
  }
  if (record.gaps.length > 0) lines.push(row("gaps", record.gaps.join(", ")));
  for (const line of figuresOf(record)) lines.push(row("used", line));
  if (record.instances.length > 0) {
    lines.push("", strong("  runs"));
    for (const run of record.instances) {
      const code = run.exitCode === null ? "" : `, exit ${run.exitCode}`;
      const why = run.reason === null ? "" : ` (${run.reason})`;
      const time = [run.startedAt, run.finishedAt].map((at) => at ?? "…").join(" to ");
      lines.push(`  ${clean(`${run.container} #${run.restarts}: ${run.status}${why}${code}, ${time}, ${run.image}`)}`);
    }
  }
  if (record.transitions.length > 0) {
    lines.push("", strong("  changes"));
    for (const { at, what } of record.transitions) lines.push(`  ${faint(iso(at))}  ${clean(what)}`);
  }
  return `${lines.join("\n")}\n`;
}

/** CPU time and memory by the final frame: of the pod, then of each container. */
function figuresOf({ used, figures }: RecordDetail): readonly string[] {
  if (figures === null) return [];
  const whole = used === null ? [] : [`${figuresText(used.cpuSeconds, used.memoryBytes)}, final frame of ${used.at}`];
  const containers = Array.isArray(figures["containers"]) ? figures["containers"].filter(isRecord) : [];
  const parts = containers.flatMap(({ name, features }) => {
    const cpu = featureOf(features, "cpu")["cpu.time"];
    const memory = featureOf(features, "memory");
    const bytes = memory["memory.peak"] ?? memory["memory.usage"];
    const text = figuresText(typeof cpu === "number" ? cpu : null, typeof bytes === "number" ? bytes : null);
    return text === "" ? [] : [`${String(name)}: ${text}`];
  });
  return [...whole, ...parts];
}

function figuresText(cpuSeconds: number | null, memoryBytes: number | null): string {
  const cpu = cpuSeconds === null ? [] : [`cpu ${cpuSeconds.toFixed(2)} s`];
  const memory = memoryBytes === null ? [] : [`memory ${binary(memoryBytes)}`];
  return [...cpu, ...memory].join(", ");
}

function featureOf(features: unknown, type: string): Readonly<Record<string, unknown>> {
  const all: readonly unknown[] = Array.isArray(features) ? features : [];
  const found = all.filter(isRecord).find((feature) => feature["type"] === type)?.["value"];
  return isRecord(found) ? found : {};
}
