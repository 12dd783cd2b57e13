import { type ApiClient, apiStatus, isRecord } from "@trawler/kube";
import type { KindSpec } from "./kinds.ts";

/** One thing that a role may do. */
export interface Right {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly verb: "list" | "watch";
}

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** All that following these kinds takes: to list and watch them, and to list Events, which are evidence after a gap. */
export function rightsFor(kinds: readonly KindSpec[]): readonly Right[] {
  const follow = kinds.flatMap(({ path }) => {
    // `/api/v1/pods` or `/apis/apps/v1/deployments`.
    const parts = path.split("/").slice(2);
    const resource = parts.at(-1) ?? "";
    const group = parts.length > 2 ? (parts[0] ?? "") : "";
    return (["list", "watch"] as const).map((verb) => ({ group, resource, verb }));
  });
  return [...follow, { group: "", resource: "events", verb: "list" }];
}

/**
 * Asks the server which of them our role lacks. Empty as well where it does not say: a server without access reviews
 * answers 403 or 404. Errors: as those of the client, where it cannot be asked.
 */
export async function missingRights(
  client: ApiClient,
  rights: readonly Right[],
  signal: AbortSignal,
): Promise<readonly Right[]> {
  const missing: Right[] = [];
  for (const right of rights) {
    const { group, resource, verb } = right;
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { group, resource, verb } },
    };
    try {
      const body = JSON.stringify(review);
      const what = `review the right to ${verb} ${resource}`;
      const answer = await client.get({ what, path: REVIEWS, method: "POST", body, signal, timeout: 10_000 });
      const status = isRecord(answer) && isRecord(answer["status"]) ? answer["status"] : {};
      if (status["allowed"] === false) missing.push(right);
    } catch (error) {
      const status = apiStatus(error);
      if (status === 403 || status === 404) return [];
      throw error;
    }
  }
  return missing;
}

/** What must be added to a ClusterRole, one rule a line. */
export function formatRules(rights: readonly Right[]): readonly string[] {
  const byWhat = new Map<string, string[]>();
  for (const { group, resource, verb } of rights) {
    const key = `${group}/${resource}`;
    byWhat.set(key, [...(byWhat.get(key) ?? []), verb]);
  }
  const byRule = new Map<string, string[]>();
  for (const [key, verbs] of byWhat) {
    const [group = "", resource = ""] = key.split("/");
    const rule = `${group}/${verbs.join(", ")}`;
    byRule.set(rule, [...(byRule.get(rule) ?? []), resource]);
  }
  return [...byRule].map(([rule, resources]) => {
    const [group = "", verbs = ""] = rule.split("/");
    return `- { apiGroups: ["${group}"], resources: [${resources.join(", ")}], verbs: [${verbs}] }`;
  });
}
