import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openHostFileSystem } from "@trawler/linux";
import {
  type Container,
  type ContainerInspection,
  type Logger,
  TrawlerError,
  type Workload,
} from "@trawler/plugin-api";
import { DEFAULT_PATHS, LinkFolder, LogLinker, type LogLinkerOptions, prepareFolder } from "../src/index.ts";

/**
 * A node of folders: each container's root is one, read as the real one is. In place of the container's process the test
 * says what its environment holds.
 */
export class TestNode implements AsyncDisposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "trawler-log-links-"));
  readonly links: string = join(this.folder, "links");
  readonly told: string[] = [];
  /** `LOG_LOCATIONS` by container id. */
  readonly environment = new Map<string, string>();
  /** Containers whose folders take too long to list, and how often they were. */
  readonly slow = new Map<string, number>();
  readonly #stack = new AsyncDisposableStack();

  /** A path of the node, or of a container's root: `at("root-1", "/var/log/app")`. */
  at(...parts: readonly string[]): string {
    return join(this.folder, ...parts);
  }

  /** Writes a file, its folders too. */
  write(path: string, text: string): string {
    const file = this.at(path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** A linker as the command makes it. */
  async linker(options: Partial<LogLinkerOptions> = {}): Promise<LogLinker> {
    const tell = (_fields: object, message: string): void => void this.told.push(message);
    const log: Logger = { debug: tell, info: tell, warn: tell, error: tell };
    prepareFolder(this.links);
    const linker = new LogLinker({
      folder: new LinkFolder(this.links),
      node: this.#stack.use(await openHostFileSystem(this.folder)),
      open: async ({ id }) => {
        const root = this.at(`root-${id}`);
        mkdirSync(root, { recursive: true });
        const files = await openHostFileSystem(root);
        const locations = () => Promise.resolve(this.environment.get(id ?? "") ?? null);
        const inner = files.list.bind(files);
        files.list = (...parameters) => {
          const calls = this.slow.get(id ?? "");
          if (calls === undefined) return inner(...parameters);
          this.slow.set(id ?? "", calls + 1);
          return Promise.reject(new TrawlerError("TRAWLER_PLUGIN_TIMEOUT", "stopped at its deadline"));
        };
        return { files, locations, [Symbol.asyncDispose]: () => files[Symbol.asyncDispose]() };
      },
      log,
      paths: DEFAULT_PATHS,
      inside: true,
      perContainer: 32,
      inAll: 100,
      self: `/proc/${process.pid}`,
      ...options,
    });
    this.#stack.use(linker);
    return linker;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One Docker container, with what the linker reads of it. */
export function dockerContainer(name: string, id: string, logPath: string | null = null): Workload {
  const inspection = { logPath } as Partial<ContainerInspection> as ContainerInspection;
  const container: Partial<Container> = {
    name,
    id,
    state: {
      status: "running",
      reason: null,
      startedAt: "2026-01-01T00:00:00Z",
      finishedAt: null,
      exitCode: null,
      restarts: 0,
      lastTermination: null,
    },
    resource: { "container.name": name, "container.id": id },
    handle: { containerId: id },
    inspection,
  };
  const workload: Partial<Workload> = {
    kind: "container",
    id,
    name,
    containers: [container as Container],
    resource: { "container.name": name },
    labels: {},
    annotations: {},
    handle: { containerId: id },
    status: null,
  };
  return workload as Workload;
}
