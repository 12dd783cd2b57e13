import type { PluginKind } from "@trawler/plugin-api";
import * as z from "zod";
import { duration, size } from "./units.ts";

const folder = (fallback: string, text: string): z.ZodDefault<z.ZodString> =>
  z.string().regex(/^\//, "an absolute path").default(fallback).describe(text);
const instances = (text: string): z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodUnknown>> =>
  z.record(z.string(), z.unknown()).optional().describe(text);

type Instances = Readonly<Record<string, unknown>>;

/** Of one pipeline, as the file says it: durations and sizes are texts. Instances are not checked yet. */
export interface PipelineText {
  readonly environment?: Instances | undefined;
  readonly mode?: Instances | undefined;
  readonly every: string;
  readonly timeout: string;
  readonly concurrency: number;
  readonly crawlers?: Instances | undefined;
  readonly queue: { readonly bytes: string; readonly frames: number };
  readonly emitters?: Instances | undefined;
}

/** The host's settings: the whole file without what plugins add. */
export interface HostSettings {
  readonly cluster: { readonly name: string };
  readonly node: { readonly name?: string | undefined };
  /** Of every frame's resource. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Folders of the node as this process sees them. */
  readonly host: { readonly root: string; readonly proc: string; readonly cgroup: string };
  readonly http: { readonly address: string; readonly port: number };
  readonly state: { readonly folder?: string | undefined };
  readonly log: { readonly level: LogLevel };
  readonly plugins: readonly string[];
  readonly pipelines: Readonly<Record<string, PipelineText>>;
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Host settings that stand beside a plugin's own; stripped before the plugin sees its configuration. */
export interface BesideSettings {
  readonly every?: string | undefined;
  readonly refresh?: string | undefined;
  readonly timeout?: string | undefined;
  readonly onStartError: "fail" | "retry" | "skip";
  readonly isolation?: "inline" | "worker" | "process" | undefined;
}

const pipelineSettings = z.strictObject({
  environment: instances(
    "Where workloads are found: one environment by its name. Default: what is there: kubernetes, then docker, then host.",
  ),
  mode: instances("What one frame is about: one mode by its name. Default: the one that fits the environment."),
  every: duration("1s", "24h").default("10s").describe("Time between two crawls of one subject; at least 1s."),
  timeout: duration("100ms", "10m").default("5s").describe("Longest time that a crawler may take on one subject."),
  concurrency: z.int().min(1).max(256).default(8).describe("Subjects that are crawled at the same time."),
  crawlers: instances(
    "What is read, by the crawlers' names; one that is not named does not run. Default: all built-in ones but those that read whole files and databases. A second instance is written name/label.",
  ),
  queue: z
    .strictObject({
      bytes: size("64KiB", "4GiB").default("32MiB").describe("Bound of the frames that wait for one emitter."),
      frames: z.int().min(1).max(1_000_000).default(2000).describe("Bound of the frames that wait for one emitter."),
    })
    .prefault({})
    .describe("Bounds of each emitter's queue: where it is full, the oldest interval frames are dropped and counted."),
  emitters: instances("Where frames go, by the emitters' names, such as kafka/main. Default: stdout."),
});

export const hostSettings: z.ZodType<HostSettings> = z.strictObject({
  cluster: z
    .strictObject({ name: z.string().min(1).max(253).default("unknown").describe("The cluster's name in each frame.") })
    .prefault({})
    .describe("The Kubernetes cluster that this node belongs to."),
  node: z
    .strictObject({
      name: z
        .string()
        .max(253)
        .optional()
        .describe("The node's name in each frame; empty or absent: the variable NODE_NAME, else the host's name."),
    })
    .prefault({})
    .describe("The node that this agent runs on."),
  attributes: z
    .record(
      z.string().regex(/^[A-Za-z][A-Za-z0-9._/-]{0,127}$/, "an attribute's name, such as deployment.environment.name"),
      z.string().max(1024),
    )
    .default({})
    .describe(
      "Attributes that stand in every frame, such as deployment.environment.name; what is known of a pod wins.",
    ),
  host: z
    .strictObject({
      root: folder("/", "The node's root folder as this process sees it, such as /host."),
      proc: folder("/proc", "The node's /proc as this process sees it, such as /host/proc."),
      cgroup: folder("/sys/fs/cgroup", "The node's cgroup folder as this process sees it."),
    })
    .prefault({})
    .describe("Where the node's files are, when this process runs in a container."),
  http: z
    .strictObject({
      address: z
        .string()
        .min(1)
        .default("127.0.0.1")
        .describe("Address that /healthz, /readyz and /metrics listen on."),
      port: z.int().min(0).max(65535).default(9467).describe("Their port; 0 takes a free one."),
    })
    .prefault({})
    .describe("The health and metrics endpoint; it shows no data."),
  state: z
    .strictObject({
      folder: z
        .string()
        .regex(/^\//, "an absolute path")
        .optional()
        .describe(
          "Folder for the agent's state and lock; default: /var/lib/trawler for root, else $XDG_STATE_HOME/trawler.",
        ),
    })
    .prefault({})
    .describe("What the agent keeps on disk."),
  log: z
    .strictObject({
      level: z
        .enum(["debug", "info", "warn", "error", "silent"])
        .default("info")
        .describe("Least severity that is logged."),
    })
    .prefault({})
    .describe("The log on standard error: JSON lines, readable on a terminal."),
  plugins: z
    .array(z.string().min(1).max(214))
    .max(64)
    .default([])
    .describe("Plugin packages of third parties, installed next to this file."),
  pipelines: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "a name of lower-case letters, digits and dashes"),
      pipelineSettings,
    )
    .prefault({ default: {} })
    .describe("What is crawled and where the frames go; most need one pipeline only."),
});

const shared = {
  onStartError: z
    .enum(["fail", "retry", "skip"])
    .default("retry")
    .describe(
      "When the plugin can't start: fail = end; retry = try again where that may help, else end; skip = go on without it.",
    ),
};

const besideCrawler = z.strictObject({
  every: duration("1s", "24h").optional().describe("Time between two calls on one subject; default: each frame."),
  refresh: duration("1s", "24h")
    .optional()
    .describe(
      "Of a crawler that works by difference: time after which its features are sent again although they have not changed; default: the crawler's own, mostly 1h.",
    ),
  timeout: duration("10ms", "10m").optional().describe("Longest time of one call; default: the pipeline's timeout."),
  isolation: z
    .enum(["inline", "worker", "process"])
    .optional()
    .describe(
      "Where it runs: inline = in the agent's own thread; worker = in a thread of its own, which can't hold up or end the agent; process = a built-in one in a process without secrets, rights and network, which is there while it has work. Default: worker for a plugin of a package, process for a built-in one that reads files by difference, inline for all others and for one that connects to applications.",
    ),
  ...shared,
});
const besideOthers = z.strictObject(shared);

export function besideSettings(kind: PluginKind): z.ZodType<BesideSettings> {
  return kind === "crawler" ? besideCrawler : besideOthers;
}

/** Their keys, of one kind. */
export function besideKeys(kind: PluginKind): readonly string[] {
  return Object.keys((kind === "crawler" ? besideCrawler : besideOthers).shape);
}
