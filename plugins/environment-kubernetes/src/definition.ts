import { defineEnvironment, errorMessage, type PluginHost } from "@trawler/plugin-api";
import { type Config, config } from "./config.ts";
import { KubernetesEnvironment } from "./environment.ts";
import type { World } from "./world.ts";

/** Longest that creating looks for a runtime, milliseconds: it only serves the plan. */
const LOOK = 5_000;

/** The environment over a world: the real one, or a test's. */
export function kubernetesEnvironment(makeWorld: (config: Config, host: PluginHost) => Promise<World>) {
  return defineEnvironment({
    name: "kubernetes",
    description: "Reports the pods of this node, from its container runtime and the API server.",
    config,
    kinds: ["pod"],
    reports: ["pid", "containerId", "podUid", "cgroup"],
    detect: async (settings, host, { signal }) => {
      const world = await makeWorld({ ...settings, api: false }, host);
      try {
        using client = await world.openRuntime(signal);
        const { runtimeName, runtimeVersion } = await client.version({ signal, timeout: 2_000 });
        return { found: true, detail: `${runtimeName} ${runtimeVersion} at ${client.socket}` };
      } catch (error) {
        return { found: false, detail: errorMessage(error) };
      }
    },
    create: async (settings, host) => {
      const environment = new KubernetesEnvironment(settings, host, await makeWorld(settings, host));
      await environment.look(AbortSignal.any([host.signal, AbortSignal.timeout(LOOK)]));
      return environment;
    },
  });
}
