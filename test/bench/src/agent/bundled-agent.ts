import { type ChildProcess, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run } from "@trawler/testbed";
import { NAMESPACE } from "./load.ts";
import { node, waitFor } from "./node.ts";

const root = resolve(import.meta.dirname, "../../../..");
const SECRETS = "/run/secrets";

/** What a DaemonSet's pod has: the bundle, a Node whose pages no other process shares, and a service account's files. */
export class Installation implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "trawler-bench-"));
  readonly #made = !existsSync(SECRETS);

  static async make(): Promise<Installation> {
    const installation = new Installation();
    const { folder } = installation;
    await run(process.execPath, [join(root, "scripts/bundle.ts"), join(folder, "bundle")], { deadline: 180_000 });
    copyFileSync(process.execPath, join(folder, "node"));
    const { caFile, agentToken } = node().kubernetes;
    mkdirSync(join(folder, "account"));
    copyFileSync(caFile, join(folder, "account/ca.crt"));
    writeFileSync(join(folder, "account/token"), agentToken);
    mkdirSync(SECRETS, { recursive: true });
    return installation;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
    if (this.#made) rmdirSync(SECRETS);
  }
}

export interface AgentOptions {
  readonly topic: string;
  readonly every: string;
  /** Without: all built-in ones. */
  readonly crawlers?: readonly string[];
  readonly signal: AbortSignal;
}

/** `trawl run` from the bundle, with the agent's own token as in a pod, on the pods of the bench alone. */
export class BundledAgent implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #port: number;
  #log = "";

  private constructor(child: ChildProcess, folder: string, port: number) {
    this.#child = child;
    this.#folder = folder;
    this.#port = port;
    child.stderr?.on("data", (text) => {
      this.#log = `${this.#log}${text}`.slice(-20_000);
    });
  }

  static async start(installation: Installation, options: AgentOptions): Promise<BundledAgent> {
    const folder = mkdtempSync(join(installation.folder, "agent-"));
    const port = await freePort();
    const file = join(folder, "trawler.yaml");
    writeFileSync(file, JSON.stringify(configuration(options, folder, port)));
    const server = new URL(node().kubernetes.apiServer);
    // A mount namespace of its own, where the service account's files stand at their usual place.
    const script = `mount -t tmpfs none ${SECRETS} && mkdir -p ${SECRETS}/kubernetes.io/serviceaccount && cp ${installation.folder}/account/* ${SECRETS}/kubernetes.io/serviceaccount && exec "$@"`;
    const command = [join(installation.folder, "node"), join(installation.folder, "bundle/trawl.js")];
    const args = ["-m", "sh", "-c", script, "sh", ...command, "run", "--config", file, "--log-level", "warn"];
    const child = spawn("unshare", args, {
      cwd: "/",
      env: {
        PATH: process.env["PATH"],
        NODE_ENV: "production",
        KUBERNETES_SERVICE_HOST: server.hostname,
        KUBERNETES_SERVICE_PORT: server.port,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const agent = new BundledAgent(child, folder, port);
    try {
      await waitFor(
        "the agent to be ready",
        async () => {
          if (child.exitCode !== null) throw new Error("it ended");
          return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
        },
        options,
      );
    } catch (cause) {
      await agent[Symbol.asyncDispose]();
      throw new Error(`the agent did not become ready:\n${agent.#log}`, { cause });
    }
    return agent;
  }

  get pid(): number {
    const { pid, exitCode } = this.#child;
    if (pid === undefined || exitCode !== null) throw new Error(`the agent has ended:\n${this.#log}`);
    return pid;
  }

  /** Which flags it runs with. */
  get flags(): string {
    const [, ...words] = readFileSync(`/proc/${this.pid}/cmdline`, "utf8").split("\0");
    return words
      .filter((word) => word.startsWith("--"))
      .slice(0, -2)
      .join(" ");
  }

  /** One number of its /metrics, the sum over all labels. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.#port}/metrics`)).text();
    const lines = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"));
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  /** Stands still, or goes on: what it would cost is not spent meanwhile. */
  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = new Promise((settle) => this.#child.once("exit", settle));
      const late = setTimeout(() => this.#child.kill("SIGKILL"), 20_000);
      this.#child.kill("SIGCONT");
      this.#child.kill("SIGTERM");
      await ended;
      clearTimeout(late);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function configuration({ topic, every, crawlers }: AgentOptions, folder: string, port: number): object {
  const { kubernetes, kafka } = node();
  return {
    cluster: { name: "bench" },
    node: { name: kubernetes.node },
    http: { address: "127.0.0.1", port },
    state: { folder: join(folder, "state") },
    pipelines: {
      default: {
        environment: {
          kubernetes: {
            sockets: [kubernetes.criSocket],
            kubelet: { root: kubernetes.kubeletRoot, podsApi: kubernetes.podsApiSocket },
            include: { namespaces: [NAMESPACE] },
          },
        },
        mode: { pod: {} },
        every,
        ...(crawlers && { crawlers: Object.fromEntries(crawlers.map((name) => [name, {}])) }),
        emitters: { kafka: { brokers: kafka.brokers, topic } },
      },
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((settle, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => settle(typeof address === "object" && address ? address.port : 0));
    });
  });
}
