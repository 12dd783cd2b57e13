import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Frame } from "@trawler/plugin-api";
import { FrameLog } from "./frames.ts";
import { type KubernetesTestbed, node } from "./node.ts";
import { waitFor } from "./wait.ts";

const trawl = fileURLToPath(new URL("../../../packages/cli/bin/trawl.js", import.meta.url));

export interface AgentOptions {
  /** Settings of the default pipeline, over those of `pipeline`. */
  readonly pipeline?: object;
  readonly crawlers?: object;
  readonly emitters?: object;
  /** Settings of environment kubernetes. */
  readonly environment?: object;
  readonly every?: string;
  /** Further settings at the top of the file. */
  readonly config?: object;
  readonly env?: NodeJS.ProcessEnv;
  /** Wait for `/healthz` only: the agent cannot be ready while a service that it syncs with is away. */
  readonly unready?: boolean;
}

/** A `trawl run` of its own against the testbed: the agent's own token, frames as JSON lines on its stdout. */
export class Agent implements AsyncDisposable {
  readonly frames = new FrameLog();
  readonly log: string[] = [];
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #exited: Promise<number | null>;
  readonly port: number;

  private constructor(child: ChildProcess, folder: string, port: number) {
    this.#child = child;
    this.#folder = folder;
    this.port = port;
    if (!child.stdout || !child.stderr) throw new Error("the agent has no pipes");
    createInterface({ input: child.stdout }).on("line", (line) => void this.frames.all.push(JSON.parse(line) as Frame));
    createInterface({ input: child.stderr }).on("line", (line) => void this.log.push(line));
    this.#exited = new Promise((resolve) => child.on("exit", resolve));
  }

  static async start(options: AgentOptions = {}): Promise<Agent> {
    const folder = await mkdtemp(join(tmpdir(), "trawler-e2e-"));
    const port = await freePort();
    const file = join(folder, "trawler.yaml");
    // JSON is YAML.
    await writeFile(file, JSON.stringify(configuration(node(), options, folder, port), null, 2));
    const child = spawn(process.execPath, [trawl, "run", "--config", file], {
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const agent = new Agent(child, folder, port);
    await waitFor(
      "the agent to be ready",
      async () => {
        if (child.exitCode !== null) throw new Error(`the agent ended: ${agent.log.join("\n")}`);
        const answer = await fetch(`http://127.0.0.1:${port}/${options.unready ? "healthz" : "readyz"}`);
        return answer.ok;
      },
      60_000,
    ).catch(async (cause) => {
      await agent[Symbol.asyncDispose]();
      throw new Error(`the agent did not become ready:\n${agent.log.join("\n")}`, { cause });
    });
    return agent;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the agent has no pid");
    return this.#child.pid;
  }

  get folder(): string {
    return this.#folder;
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text();
  }

  /** Resident memory, bytes. */
  async memory(): Promise<number> {
    const { readFile } = await import("node:fs/promises");
    const status = await readFile(`/proc/${this.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
  }

  /** Asks it to stop; resolves with its exit code. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    if (this.#child.exitCode === null) this.#child.kill(signal);
    const late = setTimeout(() => this.#child.kill("SIGKILL"), 30_000);
    const code = await this.#exited;
    clearTimeout(late);
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export interface OnceResult {
  readonly code: number | null;
  readonly frames: readonly Frame[];
  readonly log: string;
}

/** `trawl once` against the testbed: one crawl, one frame per pod. */
export async function crawlOnce(options: AgentOptions & { readonly pod?: string } = {}): Promise<OnceResult> {
  const folder = await mkdtemp(join(tmpdir(), "trawler-e2e-"));
  try {
    const file = join(folder, "trawler.yaml");
    await writeFile(file, JSON.stringify(configuration(node(), options, folder, 0)));
    const args = ["once", "--config", file, ...(options.pod === undefined ? [] : ["--pod", options.pod])];
    const child = spawn(process.execPath, [trawl, ...args], { env: { ...process.env, ...options.env } });
    const [out, log, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.on("exit", resolve)),
    ]);
    const lines = out.split("\n").filter((line) => line !== "");
    return { code, log, frames: lines.map((line) => JSON.parse(line) as Frame) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function configuration(testbed: KubernetesTestbed, options: AgentOptions, folder: string, port: number): object {
  const { kubernetes } = testbed;
  return {
    cluster: { name: "testbed" },
    node: { name: kubernetes.node },
    http: { address: "127.0.0.1", port },
    state: { folder: join(folder, "state") },
    pipelines: {
      default: {
        environment: {
          kubernetes: {
            sockets: [kubernetes.criSocket],
            kubeconfig: kubernetes.agentKubeconfig,
            kubelet: { root: kubernetes.kubeletRoot, podsApi: kubernetes.podsApiSocket },
            ...options.environment,
          },
        },
        mode: { pod: {} },
        every: options.every ?? "5s",
        ...(options.crawlers && { crawlers: options.crawlers }),
        emitters: { stdout: { format: "json" }, ...options.emitters },
        ...options.pipeline,
      },
    },
    ...options.config,
  };
}

async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
