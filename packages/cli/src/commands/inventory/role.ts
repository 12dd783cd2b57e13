import { formatRules, missingRights, rightsFor } from "@trawler/inventory";
import type { ApiClient } from "@trawler/kube";
import { errorMessage } from "@trawler/plugin-api";
import type { Log } from "../../log.ts";
import type { World } from "../../world.ts";
import type { CommonOptions } from "../common.ts";
import { type InventorySettings, inventorySettings } from "./settings.ts";

/** `trawl inventory role`: the manifests of the role that the configuration needs, for `kubectl apply -f -`. */
export async function inventoryRole(options: CommonOptions, world: World): Promise<number> {
  await world.stdout.write(formatRole(await inventorySettings(options, world)));
  return 0;
}

function formatRole({ kinds, lease }: Pick<InventorySettings, "kinds" | "lease">): string {
  const role = [
    "apiVersion: rbac.authorization.k8s.io/v1",
    "kind: ClusterRole",
    "metadata: { name: trawler-inventory }",
    "rules:",
    ...formatRules(rightsFor(kinds)).map((rule) => `  ${rule}`),
  ];
  const own =
    lease === null
      ? []
      : [
          "---",
          "apiVersion: rbac.authorization.k8s.io/v1",
          "kind: Role",
          `metadata: { name: trawler-inventory, namespace: ${lease.namespace} }`,
          "rules:",
          '  - { apiGroups: ["coordination.k8s.io"], resources: [leases], verbs: [create] }',
          `  - { apiGroups: ["coordination.k8s.io"], resources: [leases], resourceNames: [${lease.name}], verbs: [get, update] }`,
        ];
  return `${[...role, ...own].join("\n")}\n`;
}

/** One error that says all that the role lacks, and what to add to it. What is allowed is followed all the same. */
export async function reviewRights(
  client: ApiClient,
  { kinds }: Pick<InventorySettings, "kinds">,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  try {
    const missing = await missingRights(client, rightsFor(kinds), signal);
    if (missing.length === 0) return;
    const what = missing.map(({ group, resource, verb }) => `${verb} ${resource}${group === "" ? "" : `.${group}`}`);
    log.error(
      { code: "TRAWLER_DENIED", missing: what },
      `the role may not ${what.join(", ")}: add to its ClusterRole ${formatRules(missing).join(" ")} (all of it: trawl inventory role)`,
    );
  } catch (error) {
    if (!signal.aborted) log.debug({}, `the role was not reviewed: ${errorMessage(error)}`);
  }
}
