import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Frame } from "@trawler/plugin-api";
import { componentPid, kubectl, run } from "@trawler/testbed";
import { CHART, helm } from "./helm.ts";
import { makeTopic, TopicReader } from "./kafka.ts";
import { apply, node } from "./node.ts";
import { waitFor } from "./wait.ts";

const IMAGE = { repository: "registry.example.test/trawler", tag: "e2e" };
/** Milliseconds that a test waits for an image to start, or for a frame: a busy machine takes its time. */
export const PATIENCE = 90_000;
const script = fileURLToPath(new URL("../../../scripts/image.ts", import.meta.url));

/** Builds the agent's image from this checkout and gives it to the node. */
export async function buildImage(): Promise<void> {
  const args = [script, "--import", "--name", `${IMAGE.repository}:${IMAGE.tag}`];
  await run(process.execPath, args, { deadline: 300_000 });
}

/** Values of the chart that hold on the testbed; `values` are laid over them, field by field at the top. */
export function valuesFor(values: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const { kubernetes, kafka } = node();
  const { hostname, port } = new URL(kubernetes.apiServer);
  return {
    image: { ...IMAGE, pullPolicy: "Never" },
    cluster: { name: "testbed" },
    apiServer: { host: hostname, port: Number(port) },
    kafka: {
      brokers: kafka.podBrokers,
      topic: "daemonset.frames",
      secretName: "kafka",
      sasl: { mechanism: "scram-sha-512" },
    },
    kubeletRoot: kubernetes.kubeletRoot,
    runtimeSockets: [kubernetes.criSocket],
    every: "2s",
    ...values,
  };
}

/**
 * The node's root as the agent is told: that of a part of the testbed. On a usual node it is `/proc/1/root`; the first
 * process of the machines that this testbed runs on is hidden even from root.
 */
export const nodeRoot = (): string => `/proc/${componentPid("etcd") ?? 1}/root`;

/** Kafka's account as agents take it; `data` = something else in its place. */
export async function makeSecret(
  namespace: string,
  name: string,
  data?: Readonly<Record<string, string>>,
): Promise<void> {
  const { username, password } = node().kafka;
  const encoded = Object.entries(data ?? { username, password }).map(([key, text]) => [key, btoa(text)]);
  await apply({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, data: Object.fromEntries(encoded) });
}

export interface AgentPod {
  readonly name: string;
  readonly uid: string;
  readonly ip: string;
  readonly containerId: string;
  readonly restarts: number;
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
    readonly status: {
      readonly podIP?: string;
      readonly containerStatuses?: readonly {
        readonly ready: boolean;
        readonly restartCount: number;
        readonly containerID?: string;
      }[];
    };
  }[];
}

/** One release of the chart in a namespace of its own, and the frames that it writes. */
export class Release implements AsyncDisposable {
  readonly #namespace: string;
  readonly #topic: string;
  readonly #reader: TopicReader;
  readonly #frames: Frame[] = [];
  #parsed = 0;

  private constructor(namespace: string, topic: string, reader: TopicReader) {
    this.#namespace = namespace;
    this.#topic = topic;
    this.#reader = reader;
  }

  static async install(namespace: string, values: Readonly<Record<string, unknown>>): Promise<Release> {
    // One of its own: an earlier run's frames are none of this one's.
    const topic = `${namespace}.${randomUUID()}`;
    await Promise.all([makeTopic(topic), makeSecret(namespace, "kafka")]);
    const release = new Release(namespace, topic, await TopicReader.open(topic));
    try {
      await release.upgrade(values);
    } catch (error) {
      // What belongs to no namespace would be in the way of the next release.
      await release[Symbol.asyncDispose]();
      throw error;
    }
    return release;
  }

  /** Installs or upgrades, and waits until the agent of the new values is ready. */
  async upgrade(values: Readonly<Record<string, unknown>>): Promise<AgentPod> {
    const all = valuesFor(values);
    const kafka = { ...(all["kafka"] as object), topic: this.#topic };
    await helm(["upgrade", "--install", "agent", CHART, "-n", this.#namespace], { ...all, kafka });
    await kubectl(["rollout", "status", "daemonset/agent-trawler", "-n", this.#namespace, "--timeout=90s"], undefined, {
      deadline: 100_000,
    });
    return this.ready();
  }

  /** The one agent, ready and not about to end; `unlike` = another one than that. */
  ready(unlike?: AgentPod): Promise<AgentPod> {
    return waitFor(
      "the agent's pod to be ready",
      async () => {
        const selector = ["-l", "app.kubernetes.io/instance=agent"];
        const { stdout } = await kubectl(["get", "pods", "-n", this.#namespace, ...selector, "-o", "json"]);
        const [pod, ...more] = (JSON.parse(stdout) as PodList).items;
        const status = pod?.status.containerStatuses?.[0];
        if (pod === undefined || status?.containerID === undefined || more.length > 0) return false;
        if (!status.ready || pod.metadata.deletionTimestamp !== undefined) return false;
        const containerId = status.containerID.replace(/^.*:\/\//, "");
        if (containerId === unlike?.containerId) return false;
        const { name, uid } = pod.metadata;
        return { name, uid, ip: pod.status.podIP ?? "", containerId, restarts: status.restartCount };
      },
      PATIENCE,
    );
  }

  /** All frames that have been read. */
  read(): readonly Frame[] {
    const { records } = this.#reader;
    for (; this.#parsed < records.length; this.#parsed++) {
      this.#frames.push(JSON.parse(records[this.#parsed]?.value ?? "{}") as Frame);
    }
    return this.#frames;
  }

  /** A frame of a pod (`namespace/name`), of those that came and those that are to come. */
  next(pod: string, what: string, test: (frame: Frame) => boolean): Promise<Frame> {
    const find = () => this.read().find((frame) => nameOf(frame) === pod && test(frame));
    return waitFor(`a frame of ${pod}: ${what}`, find, PATIENCE);
  }

  logs(): Promise<string> {
    return kubectl(["logs", "-n", this.#namespace, "daemonset/agent-trawler"]).then(({ stdout }) => stdout);
  }

  /** Runs a program of the agent's container beside the agent. */
  exec(...command: readonly string[]): Promise<string> {
    const args = ["exec", "-n", this.#namespace, "daemonset/agent-trawler", "--", ...command];
    return kubectl(args).then(({ stdout }) => stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader[Symbol.asyncDispose]();
    await helm(["uninstall", "agent", "-n", this.#namespace, "--ignore-not-found"], undefined, { tolerate: true });
  }
}

export const nameOf = ({ resource }: Frame): string => `${resource["k8s.namespace.name"]}/${resource["k8s.pod.name"]}`;

/** The first process of a container on the node. */
export async function pidOf({ containerId }: AgentPod): Promise<number> {
  const { ctr, criSocket } = node().kubernetes;
  const { stdout } = await run(ctr, ["-a", criSocket, "-n", "k8s.io", "tasks", "ls"]);
  const line = stdout.split("\n").find((each) => each.startsWith(containerId));
  const pid = Number(line?.trim().split(/\s+/)[1]);
  if (!Number.isInteger(pid) || pid < 1) throw new Error(`no task of ${containerId}`);
  return pid;
}

/** One field of `/proc/PID/status`. */
export function statusOf(pid: number, field: string): string {
  const found = new RegExp(`^${field}:\\s*(.*)$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  if (found === undefined) throw new Error(`no ${field} in the status of ${pid}`);
  return found;
}
