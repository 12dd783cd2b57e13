import type { ApiCall, ApiClient } from "@trawler/kube";
import { groupPath, parseResourceList } from "./discovery.ts";
import { noAnswer, refusal } from "./error.ts";
import { isRecord, listOf, metadataOf, recordOf } from "./read.ts";
import type { Outcome, ResourceType } from "./types.ts";

export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
}

type DiscoveredType = ReturnType<typeof parseResourceList>[number];
type Request = Omit<ApiCall, "what">;
const READ = { method: "GET" } as const;
/** Of what was made its metadata are enough: the rest we have sent. A server that cannot leave it out sends it all. */
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/** What provisioning asks of an API server. No method throws: what went wrong is part of the outcome. */
export class Cluster {
  readonly #client: ApiClient;
  readonly #timeout: number;
  readonly #kinds = new Map<string, ReturnType<typeof parseResourceList>>();

  /** `timeout`: milliseconds that one request may take. */
  constructor(client: ApiClient, timeout = 30_000) {
    this.#client = client;
    this.#timeout = timeout;
  }

  get server(): string {
    return this.#client.target.server.host;
  }

  /** What tells this cluster from others: the uid of namespace kube-system; null where we may not read it. */
  async uid(): Promise<string | null> {
    const outcome = await this.#call("get a namespace", { ...READ, path: "/api/v1/namespaces/kube-system" });
    return outcome.ok ? metadataOf(outcome.object).uid : null;
  }

  /** Null where the server does not know the kind. Asks once for each group and version. */
  async typeOf(apiVersion: string, kind: string): Promise<DiscoveredType | null | Outcome> {
    let kinds = this.#kinds.get(apiVersion);
    if (kinds === undefined) {
      const outcome = await this.#call(`discover ${apiVersion}`, { ...READ, path: groupPath(apiVersion) });
      if (!outcome.ok && outcome.error.code !== 404) return outcome;
      kinds = outcome.ok ? parseResourceList(apiVersion, outcome.object) : [];
      this.#kinds.set(apiVersion, kinds);
    }
    return kinds.find((type) => type.kind === kind) ?? null;
  }

  /** Every namespaced kind that can be listed, one version of each. */
  async namespacedTypes(): Promise<readonly ResourceType[] | Outcome> {
    const groups = await this.#call("discover groups", { ...READ, path: "/apis" });
    if (!groups.ok) return groups;
    const preferred = listOf(groups.object["groups"]).map((group) =>
      String(recordOf(group["preferredVersion"])["groupVersion"]),
    );
    const types: ResourceType[] = [];
    for (const apiVersion of ["v1", ...preferred]) {
      const outcome = await this.#call(`discover ${apiVersion}`, { ...READ, path: groupPath(apiVersion) });
      // An aggregated server that is away takes its kinds with it: then nothing is known of what they hold.
      if (!outcome.ok) return outcome;
      const known = parseResourceList(apiVersion, outcome.object);
      types.push(
        ...known.filter(({ namespaced, verbs }) => namespaced && verbs.includes("list") && verbs.includes("delete")),
      );
    }
    return types;
  }

  /** The object of the outcome may be its metadata alone. `body`: JSON. */
  create(type: ResourceType, namespace: string | null, body: string, dryRun = false): Promise<Outcome> {
    return this.#call(`create ${type.kind}`, {
      method: "POST",
      path: collection(type, namespace),
      query: { fieldValidation: "Strict", ...(dryRun ? { dryRun: "All" } : {}) },
      body,
      accept: METADATA,
    });
  }

  read(type: ResourceType, namespace: string | null, name: string): Promise<Outcome> {
    return this.#call(`get ${type.kind}`, {
      ...READ,
      path: `${collection(type, namespace)}/${encodeURIComponent(name)}`,
    });
  }

  /** `items` of the object are the list. */
  list(type: ResourceType, namespace: string | null, selection: Selection = {}): Promise<Outcome> {
    const query: Record<string, string> = {};
    if (selection.labelSelector !== undefined) query["labelSelector"] = selection.labelSelector;
    if (selection.fieldSelector !== undefined) query["fieldSelector"] = selection.fieldSelector;
    if (selection.limit !== undefined) query["limit"] = String(selection.limit);
    return this.#call(`list ${type.plural}`, { ...READ, path: collection(type, namespace), query });
  }

  /** Deletes only the object with this uid: the server refuses (409) where another one has the name now. */
  remove(
    type: ResourceType,
    namespace: string | null,
    name: string,
    uid: string,
    propagationPolicy: "Foreground" | "Background",
  ): Promise<Outcome> {
    return this.#call(`delete ${type.kind}`, {
      method: "DELETE",
      path: `${collection(type, namespace)}/${encodeURIComponent(name)}`,
      body: JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid }, propagationPolicy }),
    });
  }

  /** Whether we may; null where the server does not say. */
  async mayI(verb: string, type: ResourceType, namespace: string | null): Promise<boolean | null> {
    const resourceAttributes = { verb, group: type.group, resource: type.plural, ...(namespace ? { namespace } : {}) };
    const outcome = await this.#call("ask for rights", {
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      body: JSON.stringify({
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes },
      }),
    });
    return outcome.ok ? recordOf(outcome.object["status"])["allowed"] === true : null;
  }

  /** The last lines of a container's log; null where there is none. */
  async log(namespace: string, pod: string, container: string, lines: number): Promise<string | null> {
    try {
      using stream = await this.#client.stream({
        what: "read a log",
        path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`,
        query: { container, tailLines: String(lines), limitBytes: "65536" },
        timeout: 10_000,
        accept: "*/*",
      });
      const parts: Buffer[] = [];
      for await (const chunk of stream.chunks) parts.push(chunk);
      return Buffer.concat(parts).toString("utf8");
    } catch {
      return null;
    }
  }

  async #call(what: string, request: Request): Promise<Outcome> {
    try {
      const answer = await this.#client.call({ what, timeout: this.#timeout, ...request });
      if (answer.status >= 200 && answer.status < 300 && isRecord(answer.body))
        return { ok: true, object: answer.body };
      return { ok: false, error: refusal(answer), retryAfter: answer.retryAfter };
    } catch (error) {
      return { ok: false, error: noAnswer(error), retryAfter: null };
    }
  }
}

function collection(type: ResourceType, namespace: string | null): string {
  const place = type.namespaced && namespace !== null ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${groupPath(type.apiVersion)}${place}/${encodeURIComponent(type.plural)}`;
}
