import { join } from "node:path";
import {
  type ApiClient,
  type ApiTarget,
  type CriClient,
  candidateSockets,
  createApiClient,
  type DownwardFiles,
  inClusterTarget,
  kubeconfigTarget,
  probeRuntime,
} from "@trawler/kube";
import { openHostFileSystem } from "@trawler/linux";
import { errorMessage, type PluginHost } from "@trawler/plugin-api";
import { type CgroupFinder, cgroupFinder } from "./cgroups.ts";
import type { Config } from "./config.ts";

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** All that this environment takes from outside; a test gives its own. */
export interface World {
  /** Opens the first runtime socket that answers. */
  openRuntime(signal: AbortSignal): Promise<CriClient>;
  readonly api: ApiClient | null;
  /** Why there is no API client. */
  readonly withoutApi: string;
  readonly podsApi: readonly string[];
  /** Throws where the cgroup tree is not to be found. */
  cgroups(): CgroupFinder;
  /** The node's files; throws where they are not to be read. */
  openFiles(): Promise<DownwardFiles & AsyncDisposable>;
}

export async function realWorld(config: Config, host: PluginHost, variables: EnvironmentVariables): Promise<World> {
  const { root } = host.node.paths;
  const sockets = candidateSockets({
    sockets: config.sockets,
    endpoint: variables["CONTAINER_RUNTIME_ENDPOINT"],
    root,
  });
  const { target, why } = config.api ? await apiTarget(config, variables) : { target: null, why: "switched off" };
  const podsApi = config.kubelet.podsApi ?? join(config.kubelet.root, "pods-api/pods-api.sock");
  return {
    openRuntime: async (signal) => (await probeRuntime(sockets, { signal })).client,
    api: target === null ? null : createApiClient({ target, environment: variables, userAgent: "trawler" }),
    withoutApi: why,
    podsApi: candidateSockets({ sockets: [podsApi], root }),
    cgroups: () => cgroupFinder(host),
    openFiles: async () => {
      const files = await openHostFileSystem(root);
      return {
        readText: (path, options) => files.readText(path, options),
        list: async (path, options) => {
          const { entries } = await files.list(path, options);
          return entries.map((entry) => entry.path.slice(entry.path.lastIndexOf("/") + 1));
        },
        [Symbol.asyncDispose]: () => files[Symbol.asyncDispose](),
      };
    },
  };
}

async function apiTarget(
  config: Config,
  variables: EnvironmentVariables,
): Promise<{ readonly target: ApiTarget | null; readonly why: string }> {
  if (config.kubeconfig !== undefined) {
    return { target: await kubeconfigTarget(config.kubeconfig, config.context), why: "" };
  }
  const inside = inClusterTarget(variables);
  if (inside !== null) return { target: inside, why: "" };
  const [path] = (variables["KUBECONFIG"] ?? "").split(":");
  if (!path) return { target: null, why: "neither kubeconfig nor service account is there" };
  try {
    return { target: await kubeconfigTarget(path, config.context), why: "" };
  } catch (error) {
    // Nobody named that file to us: what it lacks is no fault of this configuration.
    return { target: null, why: errorMessage(error) };
  }
}
