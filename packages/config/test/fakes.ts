import {
  defineCrawler,
  defineEmitter,
  defineEnvironment,
  defineMode,
  type Plugin,
  TrawlerError,
} from "@trawler/plugin-api";
import * as z from "zod";
import type { Catalogue, PluginName } from "../src/index.ts";

const idle = () => {
  throw new Error("never created");
};

const kafka = defineEmitter({
  name: "kafka",
  description: "Writes frames to a topic.",
  config: z.strictObject({
    brokers: z
      .array(z.string().regex(/^[^:]+:\d+$/, "host:port"))
      .min(1)
      .describe("Brokers to begin with.")
      .meta({ examples: [["127.0.0.1:9092"]] }),
    topic: z.string().min(1).default("trawler.frames").describe("Topic."),
    createTopic: z.boolean().default(false).describe("Makes the topic."),
    compression: z.enum(["none", "gzip", "zstd"]).default("gzip").describe("Compression."),
    attempts: z.int().min(0).max(10).default(2).describe("Attempts."),
    sasl: z
      .strictObject({
        user: z.string().describe("User."),
        password: z.string().min(4).describe("Password.").meta({ "x-secret": true, writeOnly: true }),
      })
      .optional()
      .describe("Authentication."),
  }),
  create: idle,
});
const stdout = defineEmitter({
  name: "stdout",
  description: "Prints frames.",
  config: z.strictObject({}),
  create: idle,
});
const crawler = (name: string) =>
  defineCrawler({
    name,
    description: `Reads ${name}.`,
    config: z.strictObject({
      labels: z
        .array(z.string())
        .default([])
        .refine((labels) => !labels.includes("set"), "set none of them")
        .describe("Labels that are kept."),
    }),
    scope: "member",
    needs: ["fs"],
    features: {},
    create: idle,
  });
const nginx = defineCrawler({
  name: "nginx",
  description: "Reads nginx.",
  config: z.strictObject({ timeout: z.string().default("2s").describe("Of one server.") }),
  scope: "member",
  needs: ["fs"],
  features: {},
  create: idle,
});
const kubernetes = defineEnvironment({
  name: "kubernetes",
  description: "Finds pods.",
  config: z.strictObject({ discovery: z.enum(["auto", "cri", "api"]).default("auto").describe("How.") }),
  kinds: ["pod"],
  reports: ["pid"],
  create: idle,
});
const pod = defineMode({
  name: "pod",
  description: "One frame a pod.",
  config: z.strictObject({}),
  accepts: ["pod"],
  requires: ["pid"],
  provides: { subject: [], member: ["fs"] },
  create: idle,
});

const PLUGINS: readonly Plugin[] = [
  kafka,
  stdout,
  crawler("cpu"),
  crawler("memory"),
  crawler("redis"),
  nginx,
  kubernetes,
  pod,
];

/** A catalogue of a few small plugins that notes what is loaded. */
export function fakeCatalogue(): Catalogue & { readonly loaded: string[] } {
  const known: PluginName[] = PLUGINS.map(({ kind, name, description }) => ({ kind, name, description }));
  const extra: Plugin[] = [];
  const loaded: string[] = [];
  return {
    loaded,
    known: () => known,
    load: async (kind, name) => {
      loaded.push(`${kind}.${name}`);
      const plugin = [...PLUGINS, ...extra].find((one) => one.kind === kind && one.name === name);
      if (!plugin) throw new TrawlerError("TRAWLER_PLUGIN_INVALID", `no ${name}`);
      return plugin;
    },
    install: async (packageName) => {
      if (packageName !== "@acme/motd")
        throw new TrawlerError("TRAWLER_PLUGIN_INVALID", `${packageName} is not installed`);
      extra.push(crawler("motd"));
      known.push({ kind: "crawler", name: "motd", description: "Reads motd." });
    },
  };
}
