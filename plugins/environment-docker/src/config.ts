import { isAbsolute } from "node:path";
import * as z from "zod";

const duration = z.string().regex(/^\d{1,6}(ms|s|m)$/, "expected a duration such as 10s");
const glob = z.string().min(1).max(1024);
const rules = {
  names: z.array(glob).default([]).describe("Names of containers, each a glob with * and ?."),
  labels: z.record(z.string(), z.string()).default({}).describe("Labels and their values, each a glob."),
  images: z.array(glob).default([]).describe("Images as they were asked for, each a glob."),
};

export const config = z.strictObject({
  socket: z
    .string()
    .refine(isAbsolute, "expected the absolute path of a socket")
    .optional()
    .describe(
      "Socket of the Docker engine, or of Podman's; else run/docker.sock, var/run/docker.sock or run/podman/podman.sock below the node's root.",
    ),
  timeout: duration.default("10s").describe("Time that one request may take."),
  compare: duration
    .default("60s")
    .describe("How often the event stream is opened anew and the list compared, so that a dead stream is noticed."),
  include: z
    .strictObject(rules)
    .prefault({})
    .describe("Only containers with one of the names, one of the images and all of the labels."),
  exclude: z
    .strictObject(rules)
    .prefault({})
    .describe("No containers with one of the names, one of the images or one of the labels."),
  sandboxImages: z
    .array(z.string().min(1))
    .default([])
    .describe("Exact images that are sandboxes of pods though no label says so."),
});

export type Config = z.output<typeof config>;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** Milliseconds of a duration that the schema has let through. */
export function milliseconds(text: string): number {
  const [, digits = "0", unit = "ms"] = /^(\d+)(ms|s|m)$/.exec(text) ?? [];
  return Number(digits) * (UNITS[unit] ?? 1);
}
