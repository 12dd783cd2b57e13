import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ApiClient, type ApiTarget, createApiClient, inClusterTarget, kubeconfigTarget } from "@trawler/kube";
import { TrawlerError } from "@trawler/plugin-api";
import { JournalFolder, type RunState } from "@trawler/provision";
import { stateFolder } from "../../state.ts";
import { VERSION } from "../../version.ts";
import type { World } from "../../world.ts";

/** Options of all commands that speak to a cluster. */
export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly state?: string;
  readonly requestTimeout?: number;
}

/** A client for the cluster that the options, KUBECONFIG, the user's own file or the pod's account name, in this order. */
export async function openCluster(options: ClusterOptions, world: World, connections: number): Promise<ApiClient> {
  const target = await findTarget(options, world);
  return createApiClient({
    target,
    environment: world.env,
    userAgent: `trawler/${VERSION} provision`,
    keptConnections: connections,
  });
}

async function findTarget({ kubeconfig, context }: ClusterOptions, { env }: World): Promise<ApiTarget> {
  const named = kubeconfig ?? env["KUBECONFIG"];
  if (named) return kubeconfigTarget(named, context);
  const pod = inClusterTarget(env);
  if (pod !== null && context === undefined) return pod;
  const own = join(env["HOME"] ?? "/", ".kube", "config");
  if (existsSync(own)) return kubeconfigTarget(own, context);
  throw new TrawlerError("TRAWLER_CONFIG_INVALID", "no cluster: name a kubeconfig file by --kubeconfig or KUBECONFIG");
}

export function openFolder({ state }: ClusterOptions, world: World): JournalFolder {
  return new JournalFolder(state ?? join(stateFolder(undefined, world.env, world.userId), "provision"));
}

const CODES: Readonly<Record<RunState, number>> = {
  SUCCEEDED: 0,
  RETIRED: 0,
  FAILED: 1,
  PARTIAL: 4,
  // Not over: what was asked for has not come.
  PENDING: 1,
  CREATING: 1,
  WAITING: 1,
  ROLLING_BACK: 1,
};
/** The exit code of a request that was refused before anything was created. */
export const REFUSED = 3;

export function exitCode(state: RunState): number {
  return CODES[state];
}
