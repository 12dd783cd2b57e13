import { defineMode } from "@trawler/plugin-api";
import * as z from "zod";
import { openMountpoint } from "./mode.ts";

const absolute = () =>
  z
    .string()
    .regex(/^\/(?!.*\/\.\.?(?:\/|$))/, "an absolute path without . and ..")
    .max(4096);

export default defineMode({
  name: "mountpoint",
  description: "One frame for a folder that is taken for a root: an image that is mounted, a chroot.",
  config: z
    .strictObject({
      path: absolute()
        .optional()
        .describe("The folder, as this process sees it. It has to be there when the agent starts."),
      layers: z
        .array(absolute())
        .min(1)
        .max(128)
        .optional()
        .describe("In place of a folder those of an overlay, the uppermost first: a container that does not run."),
      alias: absolute()
        .default("/")
        .describe(
          "Where the folder stands in the paths that are reported; /etc for a folder that holds a copy of /etc.",
        ),
    })
    .refine(({ path, layers }) => (path === undefined) !== (layers === undefined), "needs either path or layers"),
  accepts: ["host"],
  requires: [],
  provides: { subject: ["fs", "meta"], member: [] },
  create: ({ path, layers = [], alias }) => openMountpoint(path === undefined ? layers : [path], alias),
});
