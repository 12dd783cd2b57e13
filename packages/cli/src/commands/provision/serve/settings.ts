import { join } from "node:path";
import { duration, type LogLevel, parseDuration, readSettings } from "@trawler/config";
import type { KafkaSettings } from "@trawler/inventory";
import type { TlsFiles } from "@trawler/provision";
import * as z from "zod";
import { stateFolder } from "../../../state.ts";
import type { World } from "../../../world.ts";
import type { CommonOptions } from "../../common.ts";
import { kafkaConnection, topicName } from "../../kafka-settings.ts";

/** Flags for what is set most; each stands for a setting. */
export interface ServeOptions extends CommonOptions {
  readonly address?: string;
  readonly port?: string;
  readonly tokenFile?: string;
  readonly insecureNoToken?: boolean;
  readonly tlsCertificate?: string;
  readonly tlsKey?: string;
  readonly catalog?: string;
  readonly state?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inventory?: string;
  readonly webhook?: string;
  readonly webhookSecretFile?: string;
}

const FLAGS: readonly (readonly [flag: Exclude<keyof ServeOptions, keyof CommonOptions>, setting: string])[] = [
  ["address", "http.address"],
  ["port", "http.port"],
  ["tokenFile", "http.tokenFile"],
  ["insecureNoToken", "http.insecureNoToken"],
  ["tlsCertificate", "http.tls.certificate"],
  ["tlsKey", "http.tls.key"],
  ["catalog", "catalog"],
  ["state", "state.folder"],
  ["kubeconfig", "api.kubeconfig"],
  ["context", "api.context"],
  ["inventory", "inventory"],
  ["webhook", "notify.webhook.url"],
  ["webhookSecretFile", "notify.webhook.secretFile"],
];

const path = z.string().min(1);

const schema: z.ZodType<SettingsText> = z.strictObject({
  http: z
    .strictObject({
      address: z.string().min(1).default("127.0.0.1").describe("Address that is listened on."),
      port: z.int().min(0).max(65535).default(9469).describe("Its port; 0 takes a free one."),
      tokenFile: path.optional().describe("Path of a file with the bearer token; read again when it changes."),
      token: z
        .string()
        .optional()
        .meta({ "x-secret": true, writeOnly: true, format: "password" })
        .describe("The bearer token; write ${env:…} or ${file:…} here, or set tokenFile."),
      insecureNoToken: z
        .boolean()
        .default(false)
        .describe("Serve programs of this host without a token, on loopback only."),
      tls: z
        .strictObject({
          certificate: path.describe("Path of the certificate and its chain (PEM); read again when it changes."),
          key: path.describe("Path of its key (PEM)."),
        })
        .optional()
        .describe("Speak TLS."),
    })
    .refine(({ tokenFile, token }) => tokenFile === undefined || token === undefined, {
      message: "set one of tokenFile and token",
    })
    .prefault({})
    .describe("Where the service answers, and whom."),
  catalog: path.optional().describe("Folder of templates that clients may name; read anew for each request."),
  inlineTemplates: z.boolean().default(true).describe("Take templates that clients send, too."),
  inventory: path
    .optional()
    .describe("Folder of the running inventory that is told of what was made; default: the one of this host, if any."),
  state: z
    .strictObject({
      folder: path.optional().describe("Where runs are kept; default: where trawl provision keeps them."),
    })
    .prefault({})
    .describe("What is kept on disk."),
  api: z
    .strictObject({
      kubeconfig: path.optional().describe("Path of a kubeconfig; absent: $KUBECONFIG, the pod's account, ~/.kube."),
      context: z.string().min(1).optional().describe("Context in it; absent: the current one."),
      requestTimeout: duration("1s", "10m").default("30s").describe("Time that one request may take."),
    })
    .prefault({})
    .describe("How the API server is reached. All runs use this account's rights."),
  runs: z
    .strictObject({
      concurrent: z.int().min(1).max(64).default(4).describe("Runs at a time."),
      waiting: z.int().min(0).max(10_000).default(100).describe("Runs that may wait for their turn; more get 429."),
      keep: z
        .union([duration("168h", "87600h"), z.literal("forever")])
        .default("720h")
        .describe(
          "For how long a run that is over and has nothing in the cluster is remembered, a week at least; others always are.",
        ),
    })
    .prefault({})
    .describe("How much is done at a time, and what is remembered."),
  notify: z
    .strictObject({
      webhook: z
        .strictObject({
          url: z.url().describe("Gets a POST with JSON for each run that is over."),
          secretFile: path.optional().describe("Path of the secret that signs it, as Standard Webhooks does."),
        })
        .optional()
        .describe("Tell an HTTP server."),
      kafka: z
        .strictObject({
          ...kafkaConnection("trawler-provision"),
          topic: topicName.default("trawler.provision").describe("Topic that gets a record for each run that is over."),
        })
        .optional()
        .describe("Tell a Kafka topic, keyed by instance."),
    })
    .prefault({})
    .describe("Who is told when a run is over, at least once each, beside the log."),
  log: z
    .strictObject({
      level: z.enum(["debug", "info", "warn", "error", "silent"]).default("info").describe("Least severity logged."),
    })
    .prefault({})
    .describe("The log on standard error."),
});

type Optional<T> = T | undefined;

/** As the file says it. */
interface SettingsText {
  readonly http: {
    readonly address: string;
    readonly port: number;
    readonly tokenFile?: Optional<string>;
    readonly token?: Optional<string>;
    readonly insecureNoToken: boolean;
    readonly tls?: Optional<TlsFiles>;
  };
  readonly catalog?: Optional<string>;
  readonly inlineTemplates: boolean;
  readonly inventory?: Optional<string>;
  readonly state: { readonly folder?: Optional<string> };
  readonly api: {
    readonly kubeconfig?: Optional<string>;
    readonly context?: Optional<string>;
    readonly requestTimeout: string;
  };
  readonly runs: { readonly concurrent: number; readonly waiting: number; readonly keep: string };
  readonly notify: {
    readonly webhook?: Optional<{ readonly url: string; readonly secretFile?: Optional<string> }>;
    readonly kafka?: Optional<NotifyKafka>;
  };
  readonly log: { readonly level: LogLevel };
}

export interface NotifyKafka extends KafkaSettings {
  readonly topic: string;
}

/** Durations in milliseconds. */
export interface ServeSettings extends Pick<SettingsText, "runs" | "notify" | "log" | "inlineTemplates"> {
  readonly http: Pick<SettingsText["http"], "address" | "port" | "insecureNoToken">;
  readonly token: { readonly file: string } | { readonly text: string } | null;
  readonly tls: TlsFiles | null;
  readonly catalogue: string | null;
  readonly folder: string;
  readonly inventory: { readonly inventory?: string };
  readonly cluster: { readonly kubeconfig?: string; readonly context?: string };
  readonly requestTimeout: number;
  /** Null: runs are remembered for ever. */
  readonly keep: number | null;
}

/** Reads the service's configuration, flags over file; without either the defaults. Throws TRAWLER_CONFIG_INVALID. */
export async function serveSettings(options: ServeOptions, world: World): Promise<ServeSettings> {
  const flags = FLAGS.flatMap(([flag, setting]) => {
    const value = options[flag];
    // A port is a number in YAML; anything else is a text, whatever it looks like.
    return value === undefined ? [] : [`${setting}=${flag === "port" ? value : JSON.stringify(value)}`];
  });
  const overrides = [...flags, ...(options.set ?? [])];
  const text = await readSettings(schema, { file: options.config ?? null, overrides, env: world.env });
  const { http, api, catalog, state, inventory } = text;
  const { tokenFile, token } = http;
  return {
    ...text,
    token: tokenFile !== undefined ? { file: tokenFile } : token !== undefined ? { text: token } : null,
    tls: http.tls ?? null,
    catalogue: catalog ?? null,
    folder: state.folder ?? join(stateFolder(undefined, world.env, world.userId), "provision"),
    inventory: { ...(inventory !== undefined && { inventory }) },
    cluster: {
      ...(api.kubeconfig !== undefined && { kubeconfig: api.kubeconfig }),
      ...(api.context !== undefined && { context: api.context }),
    },
    requestTimeout: parseDuration(api.requestTimeout) ?? 30_000,
    keep: parseDuration(text.runs.keep),
  };
}
