import { type Container, errorCode, errorMessage, expandPaths, type Workload } from "@trawler/plugin-api";
import { type DescriptorBudget, HeldFiles } from "./held-files.ts";
import type { LogEntry } from "./index-file.ts";
import { locationFault, parseLocations, plainPath } from "./locations.ts";
import type { Member } from "./member.ts";
import type { RuntimeLog } from "./runtime-log.ts";

/** A pod's own word for all of its containers; `trawler.dev/logs.<container>` is for one of them. */
const ANNOTATION = "trawler.dev/logs";

export interface ContainerLogsOptions {
  readonly open: (container: Container, signal: AbortSignal) => Promise<Member>;
  readonly budget: DescriptorBudget;
  /** Looked for in every container. */
  readonly paths: readonly string[];
  /** Most links of one container. */
  readonly limit: number;
  /** How the shipper names a descriptor of this process. */
  readonly targetOf: (descriptor: number) => string;
}

export interface Found {
  readonly entries: readonly LogEntry[];
  /** Why the container's own files could not be looked at; null = they could. */
  readonly failure: { readonly code: string; readonly message: string } | null;
}

/** The logs of one container: its files are held as long as links to them stand. */
export class ContainerLogs {
  readonly held: HeldFiles;
  readonly #options: ContainerLogsOptions;
  #member: Member | null = null;
  #own: readonly LogEntry[] = [];
  /** A container whose patterns take too long is left alone for a while. */
  #restUntil = 0;

  constructor(options: ContainerLogsOptions) {
    this.#options = options;
    this.held = new HeldFiles(options.budget);
  }

  /** What there is now, in the order of the sources: the container's wishes, the usual places, the runtime's log. */
  async look(
    folder: string,
    workload: Workload,
    container: Container,
    runtime: RuntimeLog | null,
    { inside, signal }: { readonly inside: boolean; readonly signal: AbortSignal },
  ): Promise<Found> {
    const describe = entryOf(folder, workload, container);
    const runtimeName = workload.kind === "pod" ? "cri.log" : "docker.log";
    let failure: Found["failure"] = null;
    if (inside && performance.now() >= this.#restUntil) {
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_LOOK)]);
        this.#own = await this.#lookInside(workload, container, runtimeName, describe, limited);
      } catch (error) {
        failure = { code: errorCode(error) ?? "UNKNOWN", message: errorMessage(error) };
        // What is held was checked and may stand, while others get their turn.
        if (failure.code === "TRAWLER_PLUGIN_TIMEOUT") this.#restUntil = performance.now() + REST;
        else {
          this.#own = [];
          await this.#close();
        }
      }
    }
    const own = this.#own;
    this.held.keep(new Set(own.flatMap(({ target, path }) => (target === null ? [] : [path]))));
    const last =
      runtime === null
        ? []
        : [{ ...describe(`/${runtimeName}`, "linked", null, runtime.path), path: runtime.path, type: runtime.type }];
    return { entries: [...own, ...last], failure };
  }

  /** Lets all go; links that show it are to be removed before `held.release`. */
  async end(): Promise<void> {
    this.held.keep(new Set());
    await this.#close();
  }

  async #close(): Promise<void> {
    const member = this.#member;
    this.#member = null;
    await member?.[Symbol.asyncDispose]();
  }

  async #lookInside(
    workload: Workload,
    container: Container,
    runtimeName: string,
    describe: ReturnType<typeof entryOf>,
    signal: AbortSignal,
  ): Promise<readonly LogEntry[]> {
    this.#member ??= await this.#options.open(container, signal);
    const member = this.#member;
    const { annotations } = workload;
    const asked = [
      await member.locations(signal),
      note(annotations, `${ANNOTATION}.${container.name}`),
      note(annotations, ANNOTATION),
    ];
    const wishes = [...asked.flatMap((text) => (text === null ? [] : parseLocations(text))), ...this.#options.paths];
    const entries = new Map<string, LogEntry>();
    let links = 0;
    for (const wish of new Set(wishes)) {
      const fault = locationFault(wish);
      const found = fault === null ? await this.#expand(member, plainPath(wish), signal) : [wish];
      for (const path of found) {
        if (entries.has(path)) continue;
        const wrong =
          fault ??
          locationFault(path) ??
          (path.split("/")[1] === runtimeName ? "its link would be the runtime's log's" : null);
        const full = links >= this.#options.limit ? `the container has ${this.#options.limit} links` : null;
        const entry =
          wrong === null && full === null
            ? this.#hold(member, path, describe)
            : describe(path, "refused", wrong ?? full, null);
        if (entry.target !== null) links++;
        entries.set(path, entry);
        // What is refused without a look costs a line each, and a container must not fill the index.
        if (entries.size >= MAX_ENTRIES) return [...entries.values()];
      }
    }
    return [...entries.values()];
  }

  /** A pattern stands for what is there now, each time. */
  async #expand(member: Member, path: string, signal: AbortSignal): Promise<readonly string[]> {
    return /[*?]/.test(path) ? (await expandPaths(member.files, [path], { signal })).paths : [path];
  }

  /** Throws TRAWLER_GONE where the container has ended. */
  #hold(member: Member, path: string, describe: ReturnType<typeof entryOf>): LogEntry {
    try {
      return describe(path, "linked", null, this.#options.targetOf(this.held.hold(member.files, path)));
    } catch (error) {
      const code = errorCode(error);
      if (code === "TRAWLER_GONE") throw error;
      return code === "TRAWLER_UNSUPPORTED"
        ? describe(path, "absent", null, null)
        : describe(path, "refused", errorMessage(error).replace(`${path}: `, ""), null);
    }
  }
}

const MAX_ENTRIES = 256;
/** Milliseconds that one look into one container may take: the others wait for it. */
const LONGEST_LOOK = 2_000;
const REST = 30_000;

function note(annotations: Workload["annotations"], key: string): string | null {
  return Object.hasOwn(annotations, key) ? (annotations[key] ?? null) : null;
}

function entryOf(folder: string, { kind, resource, handle }: Workload, { name, id }: Container) {
  const text = (key: string): string | null => {
    const value = Object.hasOwn(resource, key) ? resource[key] : null;
    return typeof value === "string" ? value : null;
  };
  const who = {
    container: name,
    containerId: id ?? "",
    pod: kind === "pod" ? text("k8s.pod.name") : null,
    namespace: text("k8s.namespace.name"),
    podUid: handle.podUid ?? null,
  };
  return (path: string, state: LogEntry["state"], reason: string | null, target: string | null): LogEntry => ({
    link: locationFault(path) === null ? `${folder}${path}` : null,
    state,
    reason,
    target,
    type: null,
    path,
    ...who,
  });
}
