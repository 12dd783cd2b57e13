import { defineEnvironment } from "@trawler/plugin-api";
import * as z from "zod";
import { HostEnvironment } from "./environment.ts";

export default defineEnvironment({
  name: "host",
  description: "Reports the host itself as one workload.",
  config: z.strictObject({}),
  kinds: ["host"],
  reports: ["pid"],
  detect: async (_config, host) => ({ found: true, detail: `host ${host.node.name}` }),
  create: (_config, host) => new HostEnvironment(host.node),
});
