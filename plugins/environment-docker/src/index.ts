import { defineEnvironment, errorMessage } from "@trawler/plugin-api";
import { findSocket, openClient } from "./client.ts";
import { config, milliseconds } from "./config.ts";
import { DockerEnvironment } from "./environment.ts";

export default defineEnvironment({
  name: "docker",
  description: "Discovers the containers of a Docker engine.",
  config,
  kinds: ["container"],
  reports: ["pid", "containerId", "podUid", "cgroup"],
  async detect(settings, host, { signal }) {
    const socket = await findSocket(settings.socket, host.node.paths.root);
    try {
      const client = await openClient(socket, milliseconds(settings.timeout));
      return { found: true, detail: `Docker at ${socket}, API ${await client.negotiate(signal)}` };
    } catch (error) {
      return { found: false, detail: errorMessage(error) };
    }
  },
  create(settings, host) {
    const open = async (): ReturnType<typeof openClient> =>
      openClient(await findSocket(settings.socket, host.node.paths.root), milliseconds(settings.timeout));
    return new DockerEnvironment(open, settings, host);
  },
});
