import { defineMode } from "@trawler/plugin-api";
import * as z from "zod";
import { HostMode } from "./mode.ts";

export default defineMode({
  name: "host",
  description: "One frame for the whole host.",
  config: z.strictObject({}),
  accepts: ["host"],
  requires: ["pid"],
  provides: { subject: ["fs", "proc", "cgroup", "net", "meta"], member: [] },
  create: (_config, host) => new HostMode(host.node.paths, host.clock),
});
