import { sleep } from "@trawler/kube";
import type { Cluster } from "../cluster/cluster.ts";
import { marked } from "../cluster/marks.ts";
import type { Outcome } from "../cluster/types.ts";
import { parallel } from "../create/parallel.ts";
import { ownNamespaces } from "./namespaces.ts";
import type { Finding, PlannedObject, PreflightOptions } from "./types.ts";

interface DryRun {
  readonly findings: readonly Finding[];
  /** Objects whose name is taken. */
  readonly existing: ReadonlySet<number>;
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
  const findings: Finding[] = [];
  const existing = new Set<number>();
  const unjudged = new Map<number, string>();
  const judge = async (object: PlannedObject): Promise<void> => {
    const { index, type, namespace, name, generateName, deferred } = object;
    if (deferred) return void unjudged.set(index, "its definition is of this run");
    if (namespace !== null && own.has(namespace)) return void unjudged.set(index, "its namespace is of this run");
    const outcome = await (options.dryRun ? post(cluster, object) : look(cluster, object));
    if (outcome === null || outcome.ok) return;
    const { error } = outcome;
    const title = `${type.kind} ${name ?? `${generateName}*`}`;
    if (error.reason === "AlreadyExists") {
      existing.add(index);
      const where = namespace === null ? "" : ` in namespace ${namespace}`;
      if (options.existing === "fail")
        findings.push({ severity: "error", check: "existing", index, message: `${title} exists already${where}` });
      else
        findings.push({
          severity: "warning",
          check: "existing",
          index,
          message: `${title} exists already${where}: left alone`,
        });
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

async function post(cluster: Cluster, { index, type, namespace, body }: PlannedObject): Promise<Outcome> {
  const marks = { instance: "00000000000000000000000000", index, template: null, digest: "" };
  const { signal } = new AbortController();
  for (let attempt = 1; ; attempt++) {
    const outcome = await cluster.create(type, namespace, marked(body, namespace, marks), true);
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
