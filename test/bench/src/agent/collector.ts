import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cached, cacheFolder, fingerprint, run } from "@trawler/testbed";
import { NAMESPACE } from "./load.ts";
import { node } from "./node.ts";

const source = join(import.meta.dirname, "collector");

/** Builds the peer, once for its pins: an OpenTelemetry Collector of three parts. Answers the program's path. */
async function buildCollector(log: (line: string) => void): Promise<string> {
  const key = fingerprint(...["go.mod", "go.sum", "main.go"].map((name) => readFileSync(join(source, name), "utf8")));
  const folder = await cached(cacheFolder(), { name: "collector", key, progress: log }, async (partial) => {
    const cwd = join(partial, "module");
    cpSync(source, cwd, { recursive: true });
    const args = ["build", "-trimpath", "-ldflags", "-s -w", "-o", join(partial, "collector"), "."];
    await run("go", args, { cwd, env: { ...process.env, CGO_ENABLED: "0" }, deadline: 45 * 60_000 });
  });
  return join(folder, "collector");
}

/** The peer at work: kubelet statistics and Kubernetes attributes of the node's pods, as OTLP JSON to a topic. */
export class Collector implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  #log = "";

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    child.stderr?.on("data", (text) => {
      this.#log = `${this.#log}${text}`.slice(-2_000);
    });
  }

  static async start(topic: string, every: string, log: (line: string) => void): Promise<Collector> {
    const program = await buildCollector(log);
    const folder = mkdtempSync(join(tmpdir(), "trawler-bench-collector-"));
    const file = join(folder, "collector.yaml");
    writeFileSync(file, JSON.stringify(configuration(topic, every)));
    const { kubeconfig } = node().kubernetes;
    const child = spawn(program, ["--config", file], {
      env: { PATH: process.env["PATH"], KUBECONFIG: kubeconfig },
      stdio: ["ignore", "ignore", "pipe"],
    });
    return new Collector(child, folder);
  }

  get pid(): number {
    const { pid, exitCode } = this.#child;
    if (pid === undefined || exitCode !== null) throw new Error(`the collector has ended:\n${this.#log}`);
    return pid;
  }

  get log(): string {
    return this.#log;
  }

  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = new Promise((settle) => this.#child.once("exit", settle));
      const late = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
      this.#child.kill("SIGCONT");
      this.#child.kill("SIGTERM");
      await ended;
      clearTimeout(late);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function configuration(topic: string, every: string): object {
  const { kubernetes, kafka } = node();
  const { hostname, port } = new URL(kubernetes.kubeletUrl);
  return {
    receivers: {
      kubeletstats: {
        collection_interval: every,
        // Straight to the kubelet, as in a cluster, by the certificate that the API server shows there.
        auth_type: "tls",
        ca_file: kubernetes.caFile,
        cert_file: join(dirname(kubernetes.caFile), "kubelet-client.crt"),
        key_file: join(dirname(kubernetes.caFile), "kubelet-client.key"),
        endpoint: `${hostname}:${port}`,
        insecure_skip_verify: true,
        metric_groups: ["pod", "container"],
      },
    },
    processors: {
      // A node's metrics as one record are more than a broker takes.
      batch: { send_batch_size: 1000, send_batch_max_size: 1000 },
      k8sattributes: {
        auth_type: "kubeConfig",
        filter: { node: kubernetes.node, namespace: NAMESPACE },
        extract: {
          metadata: [
            "k8s.namespace.name",
            "k8s.pod.name",
            "k8s.pod.uid",
            "k8s.pod.start_time",
            "k8s.deployment.name",
            "k8s.node.name",
          ],
          labels: [{ tag_name: "label.$$1", key_regex: "(.*)", from: "pod" }],
          annotations: [{ tag_name: "annotation.$$1", key_regex: "(.*)", from: "pod" }],
        },
        pod_association: [{ sources: [{ from: "resource_attribute", name: "k8s.pod.uid" }] }],
      },
    },
    exporters: {
      kafka: {
        brokers: kafka.brokers,
        metrics: { topic, encoding: "otlp_json" },
        producer: { compression: "gzip", required_acks: -1 },
      },
    },
    service: {
      telemetry: { metrics: { level: "none" }, logs: { level: "warn" } },
      pipelines: {
        metrics: { receivers: ["kubeletstats"], processors: ["k8sattributes", "batch"], exporters: ["kafka"] },
      },
    },
  };
}
