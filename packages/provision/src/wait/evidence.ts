import { conditionsOf, listOf, metadataOf, recordOf, textOf } from "../cluster/read.ts";
import type { ResourceType } from "../cluster/types.ts";
import type { Context } from "../instance/context.ts";
import type { Evidence, Item } from "../journal/record.ts";
import { podTrouble } from "./readiness.ts";

const core = (kind: string, plural: string): ResourceType => ({
  apiVersion: "v1",
  group: "",
  version: "v1",
  kind,
  plural,
  namespaced: true,
});
const PODS = core("Pod", "pods");
const EVENTS = core("Event", "events");
const MOST_OBJECTS = 10;
const MOST_PODS = 3;
const LOG_LINES = 50;
const LINE_CAP = 500;

/** What the objects that failed looked like: conditions, last events, states and last log lines of their pods. */
export async function collectEvidence(context: Context): Promise<readonly Evidence[]> {
  const suspects = context.items.filter(({ status, ready }) => status === "created" && ready === false);
  const evidence: Evidence[] = [];
  for (const item of suspects.slice(0, MOST_OBJECTS)) {
    const lines = [...(await ofObject(context, item)), ...(await ofPods(context, item))];
    // Logs are the container's own words: nothing of them may steer a terminal.
    const clean = lines.map((line) => context.redact(line.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")).slice(0, LINE_CAP));
    if (clean.length > 0) evidence.push({ index: item.index, lines: clean });
  }
  return evidence;
}

async function ofObject({ cluster }: Context, { type, namespace, name, uid }: Item): Promise<readonly string[]> {
  const outcome = await cluster.read(type, namespace, name ?? "");
  const conditions = outcome.ok ? conditionsOf(outcome.object) : [];
  return [
    ...conditions.map(({ type: what, status, reason, message }) =>
      `condition ${what}=${status} ${reason ?? ""} ${message ?? ""}`.trim(),
    ),
    ...(namespace === null || uid === null ? [] : await eventsOf(cluster, namespace, uid)),
  ];
}

async function eventsOf(cluster: Context["cluster"], namespace: string, uid: string): Promise<readonly string[]> {
  const events = await cluster.list(EVENTS, namespace, { fieldSelector: `involvedObject.uid=${uid}`, limit: 20 });
  if (!events.ok) return [];
  return listOf(events.object["items"])
    .slice(-5)
    .map((event) => `event ${textOf(event["reason"]) ?? ""}: ${textOf(event["message"]) ?? ""}`);
}

/** Of pods that its selector means. */
async function ofPods({ cluster }: Context, { type, namespace, name }: Item): Promise<readonly string[]> {
  if (namespace === null || name === null) return [];
  const outcome = await cluster.read(type, namespace, name);
  if (!outcome.ok) return [];
  const matched = recordOf(recordOf(recordOf(outcome.object["spec"])["selector"])["matchLabels"]);
  const labelSelector = Object.entries(matched)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
  let pods: readonly Readonly<Record<string, unknown>>[] = type.kind === "Pod" ? [outcome.object] : [];
  if (labelSelector !== "") {
    const list = await cluster.list(PODS, namespace, { labelSelector, limit: 20 });
    pods = list.ok ? listOf(list.object["items"]) : [];
  }
  const lines: string[] = [];
  for (const pod of pods.slice(0, MOST_PODS)) lines.push(...(await ofPod(cluster, namespace, pod)));
  return lines;
}

async function ofPod(
  cluster: Context["cluster"],
  namespace: string,
  pod: Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  const { name, uid } = metadataOf(pod);
  const trouble = podTrouble(pod);
  const statuses = listOf(recordOf(pod["status"])["containerStatuses"]).filter(({ ready }) => ready !== true);
  const lines = trouble === null ? [] : [`pod ${name}: ${trouble}`];
  lines.push(...(await eventsOf(cluster, namespace, uid)));
  for (const status of statuses) {
    const container = textOf(status["name"]) ?? "";
    const log = await cluster.log(namespace, name, container, LOG_LINES);
    for (const line of (log ?? "").split("\n")) if (line !== "") lines.push(`log ${name}/${container}: ${line}`);
  }
  return lines;
}
