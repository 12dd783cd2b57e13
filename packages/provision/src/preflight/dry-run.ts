import { sleep } from "@trawler/kube";
import type { Cluster } from "../cluster/cluster.ts";
import { isOfTemplate, marked } from "../cluster/marks.ts";
import { metadataOf } from "../cluster/read.ts";
import type { Outcome } from "../cluster/types.ts";
import { ByteGate } from "../create/bytes.ts";
import { parallel } from "../create/parallel.ts";
import { ownNamespaces } from "./namespaces.ts";
import type { Finding, PlannedObject, PreflightOptions } from "./types.ts";

interface DryRun {
  readonly findings: readonly Finding[];
  /** Objects whose name is taken, with the uid of what has it where we may look at that. */
  readonly existing: ReadonlyMap<number, string | null>;
  /** Objects that the server did not judge, and why. */
  readonly unjudged: ReadonlyMap<number, string>;
}

/**
 * Has the server judge each object without keeping it: fields, admission, names that are taken. What lies in a
 * namespace, or is of a kind, that the run itself makes cannot be judged before. It reserves nothing.
 */
export async function dryRun(
  cluster: Cluster,
  objects: readonly PlannedObject[],
  options: PreflightOptions,
): Promise<DryRun> {
  const own = ownNamespaces(objects);
  const bytes = new ByteGate();
  const findings: Finding[] = [];
  const existing = new Map<number, string | null>();
  const unjudged = new Map<number, string>();
  const judge = async (object: PlannedObject): Promise<void> => {
    const { index, type, namespace, name, generateName, deferred } = object;
    if (deferred) return void unjudged.set(index, "its definition is of this run");
    if (namespace !== null && own.has(namespace)) return void unjudged.set(index, "its namespace is of this run");
    const outcome = await (options.dryRun ? post(cluster, object, bytes) : look(cluster, object));
    if (outcome === null || outcome.ok) return;
    const { error } = outcome;
    const title = `${type.kind} ${name ?? `${generateName}*`}`;
    if (error.reason === "AlreadyExists") {
      const found = await cluster.read(type, namespace, name ?? "");
      existing.set(index, found.ok ? metadataOf(found.object).uid : null);
      findings.push({ check: "existing", index, ...taken(found, object, title, options) });
    } else if (error.code === 400 && /dry.?run/i.test(error.message)) {
      unjudged.set(index, error.message);
      findings.push({ severity: "warning", check: "dryRun", index, message: `${title}: not judged, ${error.message}` });
    } else {
      const fields = error.causes.map(({ field, message }) => `${field}: ${message}`).join("; ");
      findings.push({ severity: "error", check: "dryRun", index, message: `${title}: ${fields || error.message}` });
    }
  };
  await parallel(objects, options.parallel, judge);
  return { findings: findings.sort((a, b) => (a.index ?? 0) - (b.index ?? 0)), existing, unjudged };
}

/** What it means that the name is taken. */
function taken(
  outcome: Outcome,
  { namespace }: PlannedObject,
  title: string,
  { existing, template = null }: PreflightOptions,
): Pick<Finding, "severity" | "message"> {
  const message = `${title} exists already${namespace === null ? "" : ` in namespace ${namespace}`}`;
  if (existing === "fail") return { severity: "error", message };
  if (existing === "skip") return { severity: "warning", message: `${message}: left alone` };
  if (outcome.ok && isOfTemplate(outcome.object, template))
    return { severity: "warning", message: `${message}, made of this template by an earlier run: left alone` };
  const why = outcome.ok ? "no run of this template made it" : outcome.error.message;
  return { severity: "error", message: `${message}: ${why}` };
}

async function post(
  cluster: Cluster,
  { index, type, namespace, body }: PlannedObject,
  bytes: ByteGate,
): Promise<Outcome> {
  const marks = { instance: "00000000000000000000000000", index, template: null, digest: "" };
  const request = JSON.stringify(marked(body, namespace, marks));
  const { signal } = new AbortController();
  for (let attempt = 1; ; attempt++) {
    const outcome = await bytes.run(request.length, () => cluster.create(type, namespace, request, true));
    if (outcome.ok || outcome.error.code !== 429 || attempt >= 10) return outcome;
    await sleep((outcome.retryAfter ?? 1) * 1000, signal);
  }
}

/** Without dry runs: only whether the name is taken. */
async function look(cluster: Cluster, { type, namespace, name }: PlannedObject): Promise<Outcome | null> {
  if (name === null) return null;
  const outcome = await cluster.read(type, namespace, name);
  if (!outcome.ok) return null;
  const message = "it exists already";
  return { ok: false, error: { code: 409, reason: "AlreadyExists", message, causes: [] }, retryAfter: null };
}
