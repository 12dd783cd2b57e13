import { defineEnvironment, errorMessage } from "@trawler/plugin-api";
import { config } from "./config.ts";
import { KubernetesEnvironment } from "./environment.ts";
import { realWorld } from "./world.ts";

export default defineEnvironment({
  name: "kubernetes",
  description: "Reports the pods of this node, from its container runtime and the API server.",
  config,
  kinds: ["pod"],
  reports: ["pid", "containerId", "podUid", "cgroup"],
  detect: async (settings, host, { signal }) => {
    const world = await realWorld({ ...settings, api: false }, host, process.env);
    try {
      using client = await world.openRuntime(signal);
      const { runtimeName, runtimeVersion } = await client.version({ signal, timeout: 2_000 });
      return { found: true, detail: `${runtimeName} ${runtimeVersion} at ${client.socket}` };
    } catch (error) {
      return { found: false, detail: errorMessage(error) };
    }
  },
  create: async (settings, host) => {
    const environment = new KubernetesEnvironment(settings, host, await realWorld(settings, host, process.env));
    await environment.look(AbortSignal.any([host.signal, AbortSignal.timeout(5_000)]));
    return environment;
  },
});
