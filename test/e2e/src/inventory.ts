import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { InventoryRecord, QueryAnswer, RecordDetail } from "@trawler/inventory";
import { kubectl } from "@trawler/testbed";
import { node } from "./node.ts";
import { waitFor } from "./wait.ts";

const trawl = fileURLToPath(new URL("../../../packages/cli/bin/trawl.js", import.meta.url));
const namespace = fileURLToPath(new URL("../../../deploy/kustomize/base/namespace.yaml", import.meta.url));
const role = fileURLToPath(new URL("../../../deploy/kustomize/inventory/rbac.yaml", import.meta.url));

/** A `trawl inventory run` with the role that is shipped, and its command line. Its folder outlives its process. */
export class Inventory implements AsyncDisposable {
  readonly folder: string;
  readonly port: number;
  log = "";
  #child: ChildProcess | null = null;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  /** Applies the shipped role, and writes a configuration with a token of it. `state` shares another one's folder. */
  static async prepare(settings: object = {}, state?: string): Promise<Inventory> {
    await kubectl(["apply", "-f", namespace, "-f", role]);
    const token = await kubectl(["create", "token", "trawler-inventory", "-n", "trawler", "--duration=2h"]);
    const folder = await mkdtemp(join(tmpdir(), "trawler-inventory-"));
    const inventory = new Inventory(folder, await freePort());
    const { apiServer, caFile } = node().kubernetes;
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: apiServer, "certificate-authority": caFile } }],
      users: [{ name: "u", user: { token: token.stdout.trim() } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      "current-context": "c",
    };
    await writeFile(join(folder, "kubeconfig"), JSON.stringify(kubeconfig), { mode: 0o600 });
    const configuration = {
      cluster: { name: "testbed" },
      api: { kubeconfig: join(folder, "kubeconfig") },
      state: { folder: state ?? join(folder, "state") },
      http: { port: inventory.port },
      ...settings,
    };
    await writeFile(inventory.file, JSON.stringify(configuration));
    return inventory;
  }

  get file(): string {
    return join(this.folder, "inventory.yaml");
  }

  get state(): string {
    return join(this.folder, "state");
  }

  /** Starts the process, and waits until it is ready. */
  async start(ready = true): Promise<void> {
    const child = spawn(process.execPath, [trawl, "inventory", "run", "--config", this.file], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#child = child;
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (chunk: string) => {
      this.log += chunk;
    });
    if (ready) await this.whenReady();
  }

  async whenReady(): Promise<void> {
    await waitFor(
      "the inventory to be ready",
      async () => {
        if (this.#child?.exitCode != null) throw new Error(`the inventory ended: ${this.log}`);
        return (await this.readiness()) === 200;
      },
      60_000,
    ).catch((cause: unknown) => {
      throw new Error(`not ready: ${this.log}`, { cause });
    });
  }

  /** Status of /readyz, or null where nothing answers. */
  async readiness(): Promise<number | null> {
    try {
      return (await fetch(`http://127.0.0.1:${this.port}/readyz`)).status;
    } catch {
      return null;
    }
  }

  /** The value of one metric with all of the given labels. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const answer = await (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text();
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const line = answer
      .split("\n")
      .find((one) => one.startsWith(`trawler_inventory_${name}`) && wanted.every((part) => one.includes(part)));
    return Number(line?.split(" ").at(-1));
  }

  /** Ends it; resolves with its exit code, null after SIGKILL. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return child?.exitCode ?? null;
    const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), 20_000);
    const code = await exited;
    clearTimeout(late);
    return code;
  }

  /** Runs `trawl inventory …` with its configuration. */
  async command(...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [trawl, "inventory", ...args, "--config", this.file]);
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.on("exit", resolve)),
    ]);
    return { code, stdout, stderr };
  }

  async query(...args: readonly string[]): Promise<QueryAnswer> {
    const { stdout, stderr, code } = await this.command("query", "-o", "json", ...args);
    if (code !== 0) throw new Error(`query failed: ${stderr}`);
    return JSON.parse(stdout) as QueryAnswer;
  }

  /** Every pod of a namespace that is known, live and gone. */
  async everyPod(namespace: string): Promise<readonly InventoryRecord[]> {
    const { records } = await this.query(
      "-n",
      namespace,
      "--between",
      "2000-01-01T00:00:00Z",
      "now",
      "--limit",
      "5000",
    );
    return records;
  }

  async show(uid: string): Promise<RecordDetail> {
    const { stdout, stderr } = await this.command("show", uid, "-o", "json");
    const [record] = stdout === "" ? [] : (JSON.parse(stdout) as RecordDetail[]);
    if (!record) throw new Error(`no record of ${uid}: ${stderr}`);
    return record;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** What a test did to the cluster, by its own log: UIDs as the API server gave them when it made the pods. */
export class PodLedger {
  readonly pods = new Map<string, { readonly name: string; gone: boolean }>();

  /** Makes pods; returns their UIDs in order. */
  async create(...pods: readonly object[]): Promise<readonly string[]> {
    const list = { apiVersion: "v1", kind: "List", items: pods };
    const format = 'jsonpath={.metadata.uid} {.metadata.name}{"\\n"}';
    const { stdout } = await kubectl(["create", "-f", "-", "-o", format], JSON.stringify(list));
    const made = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
    return made.map(([uid = "", name = ""]) => {
      this.pods.set(uid, { name, gone: false });
      return uid;
    });
  }

  /** Takes pods away at once, whatever runs in them. */
  async forceDelete(namespace: string, ...names: readonly string[]): Promise<void> {
    await kubectl(["delete", "pods", "-n", namespace, "--grace-period=0", "--force", "--wait=false", ...names]);
    this.gone(...names);
  }

  gone(...names: readonly string[]): void {
    for (const pod of this.pods.values()) if (names.includes(pod.name)) pod.gone = true;
  }

  /** One line a pod, to be compared: UID, name, and whether it is gone. */
  lines(): readonly string[] {
    return [...this.pods].map(([uid, { name, gone }]) => `${uid} ${name} ${gone ? "gone" : "live"}`).sort();
  }
}

export function recordLines(records: readonly InventoryRecord[]): readonly string[] {
  return records.map(({ uid, name, end }) => `${uid} ${name} ${end === null ? "live" : "gone"}`).sort();
}
