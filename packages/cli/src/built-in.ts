import type { PluginName } from "@trawler/config";
import type { Plugin } from "@trawler/plugin-api";

export interface BuiltIn extends PluginName {
  readonly stability: "alpha" | "beta" | "stable";
  /** Package that holds it. */
  readonly package: string;
  /** Named here as a whole, so that a bundler sees each package; loaded on first use only. */
  readonly load: () => Promise<{ readonly default: Plugin }>;
}

type Row = readonly [kind: Plugin["kind"], name: string, description: string, load: BuiltIn["load"]];

// The descriptions repeat those of the definitions, so that a list of plugins loads none; a test compares them.
const ROWS: readonly Row[] = [
  [
    "environment",
    "kubernetes",
    "Reports the pods of this node, from its container runtime and the API server.",
    () => import("@trawler/environment-kubernetes"),
  ],
  [
    "environment",
    "docker",
    "Discovers the containers of a Docker engine.",
    () => import("@trawler/environment-docker"),
  ],
  ["environment", "host", "Reports the host itself as one workload.", () => import("@trawler/environment-host")],
  ["mode", "pod", "One frame per pod, its containers the members.", () => import("@trawler/mode-pod")],
  ["mode", "container", "One frame per container.", () => import("@trawler/mode-container")],
  ["mode", "host", "One frame for the whole host.", () => import("@trawler/mode-host")],
  [
    "mode",
    "mountpoint",
    "One frame for a folder that is taken for a root: an image that is mounted, a chroot.",
    () => import("@trawler/mode-mountpoint"),
  ],
  [
    "crawler",
    "os",
    "Reads which operating system a container's image or the host has.",
    () => import("@trawler/crawler-os"),
  ],
  [
    "crawler",
    "cpu",
    "Reads CPU time, usage, throttling and the limit from the cgroup.",
    () => import("@trawler/crawler-cpu"),
  ],
  [
    "crawler",
    "memory",
    "Reads memory use, limits, page faults and out-of-memory events from the cgroup.",
    () => import("@trawler/crawler-memory"),
  ],
  [
    "crawler",
    "blockio",
    "Reads block device bytes and operations from the cgroup.",
    () => import("@trawler/crawler-blockio"),
  ],
  [
    "crawler",
    "load",
    "Reads the load averages of the host, and how many threads of each container run or wait.",
    () => import("@trawler/crawler-load"),
  ],
  [
    "crawler",
    "pressure",
    "Reads how much time is lost by waiting for CPU, memory and I/O.",
    () => import("@trawler/crawler-pressure"),
  ],
  [
    "crawler",
    "disk",
    "Reads size, use and free space of each file system that a container or the host has mounted.",
    () => import("@trawler/crawler-disk"),
  ],
  [
    "crawler",
    "diskio",
    "Reads bytes, operations and busy time of each disk of the host.",
    () => import("@trawler/crawler-diskio"),
  ],
  [
    "crawler",
    "file",
    "Lists files with type, mode, owners, size, times and, where wanted, a digest of their bytes.",
    () => import("@trawler/crawler-file"),
  ],
  [
    "crawler",
    "config",
    "Reads configuration files, known ones and those that are found by their names, with secrets redacted.",
    () => import("@trawler/crawler-config"),
  ],
  [
    "crawler",
    "network",
    "Reads bytes, packets, errors and drops of each network interface.",
    () => import("@trawler/crawler-network"),
  ],
  ["crawler", "process", "Reads the processes of a container or the host.", () => import("@trawler/crawler-process")],
  [
    "crawler",
    "connection",
    "Reads listening sockets and connections, each at the container whose process holds it.",
    () => import("@trawler/crawler-connection"),
  ],
  ["crawler", "package", "Lists the packages of dpkg, apk and rpm.", () => import("@trawler/crawler-package")],
  ["crawler", "jar", "Hashes Java archives and their classes.", () => import("@trawler/crawler-jar")],
  [
    "crawler",
    "image",
    "Reports the image of a container: name parts, digest, labels.",
    () => import("@trawler/crawler-image"),
  ],
  ["crawler", "python-package", "Lists Python packages.", () => import("@trawler/crawler-python-package")],
  ["crawler", "node-package", "Lists Node.js packages.", () => import("@trawler/crawler-node-package")],
  ["crawler", "ruby-package", "Lists Ruby gems.", () => import("@trawler/crawler-ruby-package")],
  [
    "crawler",
    "redis",
    "Reads the state and the figures of Redis, Valkey, KeyDB and Dragonfly servers.",
    () => import("@trawler/crawler-redis"),
  ],
  [
    "crawler",
    "nginx",
    "Reads connections and requests of nginx from its status page.",
    () => import("@trawler/crawler-nginx"),
  ],
  [
    "crawler",
    "prometheus",
    "Reads chosen series of the metrics endpoint that a pod's annotation names.",
    () => import("@trawler/crawler-prometheus"),
  ],
  [
    "crawler",
    "apache",
    "Reads requests and workers of Apache HTTP servers from mod_status.",
    () => import("@trawler/crawler-apache"),
  ],
  [
    "crawler",
    "memcached",
    "Reads items, commands and memory of memcached servers.",
    () => import("@trawler/crawler-memcached"),
  ],
  [
    "crawler",
    "postgresql",
    "Reads connections, transactions and databases of PostgreSQL servers.",
    () => import("@trawler/crawler-postgresql"),
  ],
  [
    "crawler",
    "mysql",
    "Reads connections, statements and buffers of MySQL and MariaDB servers.",
    () => import("@trawler/crawler-mysql"),
  ],
  [
    "crawler",
    "tomcat",
    "Reads memory, threads and requests of Apache Tomcat from its manager.",
    () => import("@trawler/crawler-tomcat"),
  ],
  [
    "crawler",
    "liberty",
    "Reads memory, threads, sessions and requests of Open Liberty and WebSphere Liberty.",
    () => import("@trawler/crawler-liberty"),
  ],
  [
    "crawler",
    "gpu",
    "Reads the graphics processors of the host, and which container uses which.",
    () => import("@trawler/crawler-gpu"),
  ],
  [
    "crawler",
    "inspect",
    "Reports what a container was told to run with, as its runtime says.",
    () => import("@trawler/crawler-inspect"),
  ],
  [
    "crawler",
    "image-history",
    "Lists the steps that made the image of a container.",
    () => import("@trawler/crawler-image-history"),
  ],
  [
    "emitter",
    "kafka",
    "Writes frames to a Kafka topic, keyed by pod, at least once.",
    () => import("@trawler/emitter-kafka"),
  ],
  [
    "emitter",
    "file",
    "Appends frames to a file, as JSON lines or in another format, and starts a new file at a size limit.",
    () => import("@trawler/emitter-file"),
  ],
  [
    "emitter",
    "stdout",
    "Prints frames on standard output: JSON lines, another format, or one readable line each on a terminal.",
    () => import("@trawler/emitter-stdout"),
  ],
  [
    "emitter",
    "http",
    "Posts frames to an HTTP or HTTPS address, as JSON lines or in another format, at least once.",
    () => import("@trawler/emitter-http"),
  ],
  [
    "emitter",
    "graphite",
    "Sends the figures of frames to Graphite by its plaintext protocol over TCP.",
    () => import("@trawler/emitter-graphite"),
  ],
  [
    "emitter",
    "fluentd",
    "Sends frames to Fluentd or Fluent Bit by the forward protocol, each batch confirmed.",
    () => import("@trawler/emitter-fluentd"),
  ],
  [
    "emitter",
    "otlp",
    "Sends figures as metrics and events as logs by OTLP over HTTP.",
    () => import("@trawler/emitter-otlp"),
  ],
  [
    "emitter",
    "elasticsearch",
    "Indexes frames in Elasticsearch or OpenSearch by their bulk API, each document once.",
    () => import("@trawler/emitter-elasticsearch"),
  ],
  [
    "emitter",
    "s3",
    "Stores each batch of frames as an object in S3 or another object store that speaks its protocol.",
    () => import("@trawler/emitter-s3"),
  ],
];

/** What comes with the command, in the order in which environments are tried and crawlers run. */
export const BUILT_IN: readonly BuiltIn[] = ROWS.map(([kind, name, description, load]) => ({
  kind,
  name,
  description,
  stability: "beta",
  package: `@trawler/${kind}-${name}`,
  load,
}));
