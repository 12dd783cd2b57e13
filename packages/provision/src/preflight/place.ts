import type { Cluster } from "../cluster/cluster.ts";
import { definedTypes } from "../cluster/discovery.ts";
import type { ResourceType } from "../cluster/types.ts";
import { waveOf } from "../create/waves.ts";
import { emptyMap, isMap, type JsonMap } from "../json.ts";
import type { ProcessedObject } from "../template/types.ts";
import type { Finding, PlannedObject, PreflightOptions } from "./types.ts";

const NOT_KEPT =
  "the server keeps no object of this kind that could be found again or removed, so that a run could neither prove nor undo it";
const PROJECT = "make the project before (oc new-project), or write a Namespace";

type Source = Pick<ProcessedObject, "path" | "apiVersion" | "kind" | "name" | "generateName" | "body">;

/** Gives each object its kind, namespace and wave. */
export async function place(
  cluster: Cluster,
  processed: readonly ProcessedObject[],
  options: PreflightOptions,
): Promise<{ readonly objects: readonly PlannedObject[]; readonly findings: readonly Finding[] }> {
  const sources: readonly Source[] = [...requested(options), ...processed];
  const defined = sources
    .filter(({ kind }) => kind === "CustomResourceDefinition")
    .flatMap(({ body }) => definedTypes(body));
  const objects: PlannedObject[] = [];
  const findings: Finding[] = [];
  for (const [index, source] of sources.entries()) {
    const { apiVersion, kind, path, name, generateName, body } = source;
    const title = `${kind} ${name ?? `${generateName}*`}`;
    const refuse = (check: Finding["check"], message: string): void =>
      void findings.push({ severity: "error", check, index, message: `${title}: ${message}` });
    const found = await cluster.typeOf(apiVersion, kind);
    if (found !== null && "ok" in found) {
      const message = found.ok ? "no answer" : found.error.message;
      return { objects: [], findings: [{ severity: "error", check: "server", index: null, message }] };
    }
    const own = defined.find((type) => type.apiVersion === apiVersion && type.kind === kind);
    const type: ResourceType | undefined = found === null ? own : typeOf(found);
    if (type === undefined) {
      refuse("kind", `the server has no kind ${kind} in ${apiVersion}`);
      continue;
    }
    if (found !== null && !found.verbs.includes("get") && !found.verbs.includes("delete")) {
      refuse("kind", `${NOT_KEPT}${kind === "ProjectRequest" ? `; ${PROJECT}` : ""}`);
      continue;
    }
    // Its deletion takes along what others have in it, and only of namespaces we know how to keep that.
    if (kind === "Project" && type.group === "project.openshift.io") {
      refuse("kind", `a project holds what others make in it too; ${PROJECT}`);
      continue;
    }
    if (name === null && generateName === null) {
      refuse("kind", "it has neither name nor generateName");
      continue;
    }
    const namespace = type.namespaced ? (ownNamespace(body) ?? options.namespace) : null;
    if (type.namespaced && namespace === null) {
      refuse("namespace", "it needs a namespace: name one with --namespace");
      continue;
    }
    const wave = options.order === "template" ? index : waveOf(apiVersion, kind, body);
    const deferred = found === null;
    objects.push({
      index,
      path,
      type,
      deferred,
      namespace,
      name,
      generateName,
      wave,
      body,
      existing: false,
      uid: null,
      unjudged: null,
    });
  }
  return { objects, findings: [...findings, ...duplicates(objects)] };
}

/** Without what only discovery needs: the type goes into every record of an object. */
function typeOf({ apiVersion, group, version, kind, plural, namespaced }: ResourceType): ResourceType {
  return { apiVersion, group, version, kind, plural, namespaced };
}

function requested({ createNamespace, namespace }: PreflightOptions): readonly Source[] {
  if (!createNamespace || namespace === null) return [];
  const metadata: JsonMap = Object.assign(emptyMap(), { name: namespace });
  const body: JsonMap = Object.assign(emptyMap(), { apiVersion: "v1", kind: "Namespace", metadata });
  return [{ path: "", apiVersion: "v1", kind: "Namespace", name: namespace, generateName: null, body }];
}

function ownNamespace(body: JsonMap): string | null {
  const namespace = isMap(body["metadata"]) ? body["metadata"]["namespace"] : undefined;
  return typeof namespace === "string" && namespace !== "" ? namespace : null;
}

function duplicates(objects: readonly PlannedObject[]): readonly Finding[] {
  const named = objects.filter(({ name }) => name !== null);
  const groups = Map.groupBy(named, ({ type, namespace, name }) =>
    JSON.stringify([type.group, type.plural, namespace, name]),
  );
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.map(({ index, type, name }): Finding => {
      const message = `${type.kind} ${name}: object ${first?.index} has the same kind, namespace and name`;
      return { severity: "error", check: "duplicate", index, message };
    }),
  );
}
