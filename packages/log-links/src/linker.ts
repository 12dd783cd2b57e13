import {
  type Container,
  errorCode,
  errorMessage,
  type FileSystemAccess,
  type Logger,
  type Workload,
} from "@trawler/plugin-api";
import { ContainerLogs } from "./container-logs.ts";
import { folderNames } from "./folder-name.ts";
import { DescriptorBudget } from "./held-files.ts";
import type { LogEntry } from "./index-file.ts";
import type { LinkFolder } from "./link-folder.ts";
import type { Member } from "./member.ts";
import { findRuntimeLog } from "./runtime-log.ts";

/** Where logs are looked for in every container. */
export const DEFAULT_PATHS: readonly string[] = ["/var/log/messages", "/etc/csf_env.properties"];

export interface LogLinkerOptions {
  readonly folder: LinkFolder;
  /** The node's files. */
  readonly node: Pick<FileSystemAccess, "stat">;
  readonly open: (container: Container, signal: AbortSignal) => Promise<Member>;
  readonly log: Logger;
  /** Names the folder of a container; the usual names where absent. */
  readonly template?: string;
  readonly paths: readonly string[];
  /** Whether files inside of containers are offered; they are as long as this process lives. */
  readonly inside: boolean;
  /** Most links of one container, and most files held open in all. */
  readonly perContainer: number;
  readonly inAll: number;
  /** This process's folder in /proc as the shipper sees it. */
  readonly self: string;
}

export interface LinkCounts {
  readonly containers: number;
  readonly linked: number;
  readonly absent: number;
  readonly refused: number;
  /** Links that could not be made or removed; tried again at the next pass. */
  readonly failed: number;
}

/** Keeps a folder of links in step with what runs. One pass at a time. */
export class LogLinker implements AsyncDisposable {
  readonly #options: LogLinkerOptions;
  readonly #budget: DescriptorBudget;
  readonly #nameOf: (workload: Workload, container: Container) => string;
  /** By container id. */
  readonly #logs = new Map<string, ContainerLogs>();
  /** Of containers that have gone, until their links have. */
  readonly #ended = new Set<ContainerLogs>();
  /** What was told once of each container that runs, so that it is not told each second. */
  readonly #told = new Map<string, Set<string>>();

  constructor(options: LogLinkerOptions) {
    this.#options = options;
    this.#budget = new DescriptorBudget(options.inAll);
    this.#nameOf = folderNames(options.template);
  }

  /** One pass: looks at each container that runs, and makes the folder say what was found. */
  async pass(workloads: Iterable<Workload>, signal: AbortSignal): Promise<LinkCounts> {
    const running = this.#running(workloads);
    for (const [id, logs] of this.#logs) {
      if (running.has(id)) continue;
      this.#logs.delete(id);
      this.#told.delete(id);
      this.#ended.add(logs);
      await logs.end();
    }
    const entries: LogEntry[] = [];
    for (const [id, { workload, container, folder }] of running) {
      signal.throwIfAborted();
      entries.push(...(await this.#look(id, workload, container, folder, signal)));
    }
    const failures = this.#apply(entries);
    const count = (state: LogEntry["state"]): number => entries.filter((entry) => entry.state === state).length;
    return {
      containers: running.size,
      linked: count("linked"),
      absent: count("absent"),
      refused: count("refused"),
      failed: failures,
    };
  }

  /** Removes all links, those to the runtime's logs too. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const logs of this.#logs.values()) {
      this.#ended.add(logs);
      await logs.end();
    }
    this.#logs.clear();
    this.#apply([]);
  }

  /** Of two of one name the one that began later: the other is about to go. */
  #running(workloads: Iterable<Workload>): ReadonlyMap<string, Running> {
    const byFolder = new Map<string, Running>();
    for (const workload of workloads) {
      for (const container of workload.containers) {
        const { status, startedAt } = container.state;
        if (container.id === null || status === "waiting" || status === "terminated") continue;
        const folder = this.#nameOf(workload, container);
        const other = byFolder.get(folder)?.container.state.startedAt ?? "";
        if (!byFolder.has(folder) || (startedAt ?? "") > other) byFolder.set(folder, { workload, container, folder });
      }
    }
    return new Map([...byFolder.values()].map((one) => [one.container.id ?? "", one]));
  }

  async #look(
    id: string,
    workload: Workload,
    container: Container,
    folder: string,
    signal: AbortSignal,
  ): Promise<readonly LogEntry[]> {
    const { node, open, paths, perContainer: limit, self, inside } = this.#options;
    const targetOf = (descriptor: number): string => `${self}/fd/${descriptor}`;
    const logs = this.#logs.get(id) ?? new ContainerLogs({ open, budget: this.#budget, paths, limit, targetOf });
    this.#logs.set(id, logs);
    const runtime = await findRuntimeLog(node, workload, container, signal);
    const { entries, failure } = await logs.look(folder, workload, container, runtime, { inside, signal });
    const name = `${workload.name} ${container.name}`;
    if (runtime === null)
      this.#tell(id, name, "info", "TRAWLER_UNSUPPORTED", "the runtime keeps no log of it in a file");
    // One that has ended is about to be removed.
    if (failure !== null && failure.code !== "TRAWLER_GONE")
      this.#tell(id, name, "warn", failure.code, `its files cannot be looked at: ${failure.message}`);
    for (const { path, reason, state } of entries) {
      if (state === "refused") this.#tell(id, name, "warn", "TRAWLER_REFUSED", `${shown(path)}: ${reason}`);
    }
    return entries;
  }

  #tell(id: string, container: string, level: "info" | "warn", code: string, message: string): void {
    const told = this.#told.get(id) ?? new Set();
    this.#told.set(id, told);
    if (told.has(message) || told.size >= MAX_TOLD) return;
    told.add(message);
    this.#options.log[level]({ code, container }, message);
  }

  /** Links first, then what they showed: no link ever points to a descriptor that is another file's. */
  #apply(entries: readonly LogEntry[]): number {
    const { folder, self, log } = this.#options;
    let failures = 0;
    try {
      const failed = folder.apply(entries);
      failures = failed.length;
      for (const { link, reason } of failed)
        log.warn({ code: "TRAWLER_DENIED", link }, `the link cannot be set: ${reason}`);
    } catch (error) {
      failures = 1;
      log.warn({ code: errorCode(error) ?? "UNKNOWN" }, `the index cannot be written: ${errorMessage(error)}`);
    }
    const isShown = (descriptor: number): boolean => folder.says(`${self}/fd/${descriptor}`);
    for (const logs of this.#logs.values()) logs.held.release(isShown);
    for (const logs of this.#ended) if (logs.held.release(isShown)) this.#ended.delete(logs);
    return failures;
  }
}

interface Running {
  readonly workload: Workload;
  readonly container: Container;
  readonly folder: string;
}

const MAX_TOLD = 100;

function shown(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path);
}
