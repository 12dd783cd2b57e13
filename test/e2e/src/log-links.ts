import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitFor } from "./wait.ts";

const trawl = fileURLToPath(new URL("../../../packages/cli/bin/trawl.js", import.meta.url));

interface LogEntry {
  readonly link: string | null;
  readonly state: "linked" | "absent" | "refused";
  readonly path: string;
  readonly containerId: string;
  readonly pod: string | null;
}

/** A `trawl logs link` of its own: `environment` is that part of a configuration file. */
export class LogLinks implements AsyncDisposable {
  readonly folder: string;
  readonly log: string[] = [];
  #child: ChildProcess | null = null;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(environment: object): Promise<LogLinks> {
    const made = new LogLinks(await mkdtemp(join(tmpdir(), "trawler-e2e-links-")));
    const pipelines = { default: { environment } };
    await writeFile(made.#config, JSON.stringify({ cluster: { name: "testbed" }, pipelines }));
    return made;
  }

  get #config(): string {
    return join(this.folder, "trawler.yaml");
  }

  get links(): string {
    return join(this.folder, "links");
  }

  /** Starts it, and waits for its first pass. */
  async start(...options: readonly string[]): Promise<void> {
    const child = this.#spawn(options);
    this.#child = child;
    await waitFor(
      "the index",
      () => {
        if (child.exitCode !== null) throw new Error(`it ended: ${this.log.join("")}`);
        return existsSync(join(this.links, ".index.json"));
      },
      60_000,
    );
  }

  /** `--once`: its exit code. */
  once(...options: readonly string[]): Promise<number | null> {
    const child = this.#spawn(["--once", ...options]);
    return new Promise((resolve) => child.on("exit", resolve));
  }

  /** What a link shows now; null where there is none. */
  read(path: string): string | null {
    try {
      return readFileSync(join(this.links, path), "utf8");
    } catch {
      return null;
    }
  }

  /** What the index says of each log of a pod; null = of containers that are in none. */
  entries(pod: string | null): readonly LogEntry[] {
    const { logs } = JSON.parse(readFileSync(join(this.links, ".index.json"), "utf8")) as { readonly logs: LogEntry[] };
    return logs.filter((entry) => entry.pod === pod);
  }

  /** Paths of all links whose folders begin so. */
  paths(folder: string): readonly string[] {
    return readdirSync(this.links, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isSymbolicLink())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.links.length + 1))
      .filter((path) => path.startsWith(folder))
      .sort();
  }

  /** Its metrics, by name. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const port = /"port":(\d+)/.exec(this.log.join(""))?.[1];
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    return new Map(lines.map((line) => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]));
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.kill(signal);
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  #spawn(options: readonly string[]): ChildProcess {
    const args = ["logs", "link", "--config", this.#config, "--folder", this.links, ...options];
    const child = spawn(process.execPath, [trawl, ...args], { stdio: ["ignore", "ignore", "pipe"] });
    child.stderr?.on("data", (chunk) => void this.log.push(String(chunk)));
    return child;
  }
}
