import { defineMode } from "@trawler/plugin-api";
import * as z from "zod";
import { ContainerMode } from "./mode.ts";

export default defineMode({
  name: "container",
  description: "One frame per container.",
  config: z.strictObject({}),
  accepts: ["container", "pod"],
  requires: ["containerId"],
  provides: { subject: ["fs", "proc", "cgroup", "net", "meta"], member: [] },
  create: (_config, host) => new ContainerMode(host.node.paths, host.clock),
});
