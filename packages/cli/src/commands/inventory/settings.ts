import { join } from "node:path";
import { duration, type LogLevel, parseDuration, parseSize, readSettings, size } from "@trawler/config";
import {
  BUILT_IN_KINDS,
  type KafkaSettings,
  type KindName,
  type KindSpec,
  kindSpec,
  type PostgresqlSettings,
  parsePostgresqlUrl,
  type Retention,
} from "@trawler/inventory";
import * as z from "zod";
import { stateFolder } from "../../state.ts";
import type { World } from "../../world.ts";
import type { CommonOptions } from "../common.ts";
import { kafkaConnection, topicName } from "../kafka-settings.ts";

const dnsName = z.string().regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, "a name such as trawler-inventory");

const kafka = z
  .strictObject({
    ...kafkaConnection("trawler-inventory"),
    records: z
      .strictObject({
        topic: topicName.default("trawler.inventory").describe("Compacted topic that gets the records."),
        createTopic: z.boolean().default(false).describe("Create the topic, compacted, where it is missing."),
        partitions: z.int().min(1).max(10_000).default(6).describe("Partitions of a topic that is created."),
      })
      .optional()
      .describe("Write each record to a topic, keyed by cluster/kind/uid. Absent: no topic."),
    frames: z
      .strictObject({
        topic: topicName.default("trawler.frames").describe("Topic of the agents' frames."),
        group: z.string().min(1).max(249).optional().describe("Consumer group; default: one of this cluster."),
      })
      .optional()
      .describe("Join the final frames of the node agents to the records. Absent: no last figures."),
  })
  .optional()
  .describe("The Kafka that records go to and frames come from. Absent: the store only.");

const schema: z.ZodType<SettingsText> = z.strictObject({
  cluster: z
    .strictObject({
      name: z.string().min(1).max(253).default("unknown").describe("The cluster's name in each record."),
    })
    .prefault({})
    .describe("The cluster that is followed. One process follows one."),
  api: z
    .strictObject({
      kubeconfig: z.string().min(1).optional().describe("Path of a kubeconfig; absent: the pod's service account."),
      context: z.string().min(1).optional().describe("Context in it; absent: the current one."),
      streamingList: z
        .enum(["auto", "off"])
        .default("off")
        .describe("Ask for first lists as a stream (sendInitialEvents), in pages where the server does not serve it."),
    })
    .prefault({})
    .describe("How the API server is reached. List and watch are all that is needed."),
  state: z
    .strictObject({
      folder: z
        .string()
        .regex(/^\//, "an absolute path")
        .optional()
        .describe(
          "Folder of queue and store; default: /var/lib/trawler/inventory for root, else under $XDG_STATE_HOME.",
        ),
    })
    .prefault({})
    .describe("What is kept on disk."),
  store: z
    .discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("sqlite").describe("One file in the state folder.") }),
      z.strictObject({
        kind: z
          .literal("postgresql")
          .describe("A PostgreSQL data base: several readers, and two replicas without a common volume."),
        url: z
          .string()
          .min(1)
          .meta({ "x-secret": true, writeOnly: true, format: "password" })
          .describe("postgresql://user@host:5432/database; with a password write ${env:…} or ${file:…} here."),
        passwordFile: z.string().min(1).optional().describe("Path of a file with the password, read at each connect."),
        schema: z
          .string()
          .regex(/^[a-z_][a-z0-9_]{0,62}$/, "a name of small letters, digits and underscore")
          .refine((name) => !/^pg_/.test(name), { message: "names that begin with pg_ are PostgreSQL's own" })
          .default("trawler_inventory")
          .describe("Schema that holds the tables; each cluster needs its own."),
        tls: z
          .strictObject({
            ca: z
              .string()
              .optional()
              .describe("Path of the CA certificates (PEM); the usual ones where it is not set."),
            certificate: z.string().optional().describe("Path of the client's certificate (PEM)."),
            key: z.string().optional().describe("Path of the client's key (PEM)."),
            serverName: z.string().optional().describe("Name that the server's certificate must carry."),
          })
          .optional()
          .describe("Speak TLS, and check the server's certificate."),
      }),
    ])
    .default({ kind: "sqlite" })
    .describe("Where the records are kept."),
  http: z
    .strictObject({
      address: z.string().min(1).default("127.0.0.1").describe("Address of /healthz, /readyz and /metrics."),
      port: z.int().min(0).max(65535).default(9468).describe("Their port; 0 takes a free one."),
    })
    .prefault({})
    .describe("The health and metrics endpoint; it shows no data."),
  log: z
    .strictObject({
      level: z.enum(["debug", "info", "warn", "error", "silent"]).default("info").describe("Least severity logged."),
    })
    .prefault({})
    .describe("The log on standard error."),
  kinds: z
    .array(
      z.strictObject({
        apiVersion: z
          .string()
          .regex(/^(v[0-9a-z]+|[a-z0-9.-]+\/v[0-9a-z]+)$/, "v1, or group/version such as apps/v1")
          .describe("API group and version."),
        resource: z
          .string()
          .regex(/^[a-z0-9][a-z0-9.-]*$/, "a plural such as statefulsets")
          .describe("The plural name, as in paths."),
        kind: z
          .string()
          .regex(/^[A-Za-z0-9]{1,63}$/, "a kind such as StatefulSet")
          .describe("The kind."),
        required: z.boolean().default(true).describe("Not ready before this kind is synced."),
      }),
    )
    .max(64)
    .default([])
    .describe("Further kinds. Pods, Nodes, Namespaces, ReplicaSets, Deployments and Jobs are always followed."),
  queue: z
    .strictObject({ bytes: size("16MiB", "1024GiB").default("2GiB").describe("Largest size of the queue on disk.") })
    .prefault({})
    .describe("The durable queue between reader and store."),
  writer: z
    .strictObject({
      every: duration("10ms", "5s").default("500ms").describe("Longest time that an event waits for its batch."),
      events: z.int().min(1).max(100_000).default(500).describe("Events of one batch."),
      bytes: size("64KiB", "256MiB").default("4MiB").describe("Bytes of one batch."),
    })
    .prefault({})
    .describe("A batch is written at the first of these."),
  retention: z
    .strictObject({
      days: z.int().min(1).max(36_500).default(180).describe("Days that records of gone objects are kept."),
      rows: z.int().min(1).default(10_000_000).describe("And at most so many of them."),
    })
    .prefault({})
    .describe("How long the past is kept."),
  lease: z
    .strictObject({
      namespace: dnsName.describe("Namespace of the Lease."),
      name: dnsName.default("trawler-inventory").describe("Its name."),
      duration: duration("2s", "5m").default("15s").describe("Time after which a leader that does not renew has lost."),
    })
    .optional()
    .describe("Several replicas, one of which works. Absent: this process is the only one."),
  kafka,
});

/** As the file says it. */
interface SettingsText {
  readonly cluster: { readonly name: string };
  readonly api: {
    readonly kubeconfig?: string | undefined;
    readonly context?: string | undefined;
    readonly streamingList: "auto" | "off";
  };
  readonly state: { readonly folder?: string | undefined };
  readonly store: { readonly kind: "sqlite" } | ({ readonly kind: "postgresql" } & PostgresqlSettings);
  readonly http: { readonly address: string; readonly port: number };
  readonly log: { readonly level: LogLevel };
  readonly kinds: readonly KindName[];
  readonly queue: { readonly bytes: string };
  readonly writer: { readonly every: string; readonly events: number; readonly bytes: string };
  readonly retention: Retention;
  readonly lease?: { readonly namespace: string; readonly name: string; readonly duration: string } | undefined;
  readonly kafka?: InventoryKafka | undefined;
}

interface InventoryKafka extends KafkaSettings {
  readonly records?: { readonly topic: string; readonly createTopic: boolean; readonly partitions: number } | undefined;
  readonly frames?: { readonly topic: string; readonly group?: string | undefined } | undefined;
}

/** Durations in milliseconds, sizes in bytes, paths absolute. */
export interface InventorySettings {
  readonly file: string | null;
  readonly cluster: string;
  readonly api: SettingsText["api"];
  readonly folder: string;
  /** Null = SQLite, in the folder. */
  readonly postgresql: PostgresqlSettings | null;
  readonly http: SettingsText["http"];
  readonly log: SettingsText["log"];
  readonly kinds: readonly KindSpec[];
  readonly queueBytes: number;
  readonly writer: { readonly every: number; readonly events: number; readonly bytes: number };
  readonly retention: Retention;
  readonly lease: { readonly namespace: string; readonly name: string; readonly duration: number } | null;
  readonly kafka: InventoryKafka | null;
}

/** Reads the inventory's configuration; without a file the defaults. Throws TRAWLER_CONFIG_INVALID. */
export async function inventorySettings(options: CommonOptions, world: World): Promise<InventorySettings> {
  const file = options.config ?? null;
  const text = await readSettings(schema, { file, overrides: options.set ?? [], env: world.env });
  const { api, http, log, writer, retention, lease } = text;
  const own = text.kinds.map(kindSpec);
  const named = new Set(own.map(({ stream }) => stream));
  return {
    file,
    cluster: text.cluster.name,
    api,
    folder: text.state.folder ?? join(stateFolder(undefined, world.env, world.userId), "inventory"),
    postgresql: postgresqlOf(text.store),
    http,
    log,
    kinds: [...BUILT_IN_KINDS.filter(({ stream }) => !named.has(stream)), ...own],
    queueBytes: bytes(text.queue.bytes),
    writer: { every: milliseconds(writer.every), events: writer.events, bytes: bytes(writer.bytes) },
    retention,
    lease: lease === undefined ? null : { ...lease, duration: milliseconds(lease.duration) },
    kafka: text.kafka ?? null,
  };
}

/** Checks the address at once, not at the first connect. */
function postgresqlOf(store: SettingsText["store"]): PostgresqlSettings | null {
  if (store.kind === "sqlite") return null;
  const { kind: _, ...postgresql } = store;
  parsePostgresqlUrl(postgresql.url);
  return postgresql;
}

/** The schema has checked them. */
function bytes(text: string): number {
  return parseSize(text) ?? 0;
}

function milliseconds(text: string): number {
  return parseDuration(text) ?? 0;
}
