import { defineMode } from "@trawler/plugin-api";
import * as z from "zod";
import { PodMode } from "./mode.ts";

export default defineMode({
  name: "pod",
  description: "One frame per pod, its containers the members.",
  config: z.strictObject({}),
  accepts: ["pod"],
  requires: ["containerId", "podUid"],
  provides: { subject: ["proc", "cgroup", "net", "meta"], member: ["fs", "proc", "cgroup", "net", "meta"] },
  create: (_config, host) => new PodMode(host.node.paths, host.clock),
});
