import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { errorMessage, type Logger } from "@trawler/plugin-api";
import type { CarrierEvents, Carry } from "./carrier.ts";
import type { FromProcess, ToProcess } from "./protocol.ts";

/** MiB of heap; beyond it the process ends, and with it the calls of its crawlers. */
const HEAP_MEGABYTES = 96;
/** Milliseconds without a call after which it is ended. Starting anew costs a fifth of a second of CPU time. */
const IDLE = 30_000;

export interface CrawlerProcessOptions {
  /** URL of what it runs: a module that calls `serveProcess`. */
  readonly entry: URL;
  readonly log: Logger;
  readonly idle?: number;
}

/** One crawler's part in the process. */
interface Part {
  readonly events: CarrierEvents;
  readonly calls: Set<number>;
}

/** One life of the process. */
interface Life {
  readonly child: ChildProcess;
  readonly parts: Map<number, Part>;
  idle: NodeJS.Timeout | undefined;
}

/**
 * One process for several crawlers, which holds none of the agent's secrets: its environment has the allocator's settings
 * alone, it inherits no descriptor but its channel, and Node lets it read no file but the program's own, start nothing
 * and open no connection. It is started by the first call, ended when nothing was asked for a while, and killed when one
 * of its crawlers overruns; calls of the others then fail with TRAWLER_RETRY.
 */
export class CrawlerProcess {
  readonly #options: CrawlerProcessOptions;
  #life: Life | null = null;
  #last = 0;

  constructor(options: CrawlerProcessOptions) {
    this.#options = options;
  }

  /** Of the running process; null while there is none. */
  get pid(): number | null {
    return this.#life?.child.pid ?? null;
  }

  readonly carry: Carry = (data, events) => {
    this.#life ??= this.#start();
    const life = this.#life;
    const { child, parts } = life;
    const crawler = ++this.#last;
    clearTimeout(life.idle);
    const part: Part = { events, calls: new Set() };
    parts.set(crawler, part);
    const tell = (message: ToProcess): void => {
      // A process that has just ended tells so by its exit.
      if (child.connected) child.send(message, () => undefined);
    };
    tell({ crawler, start: data });
    return {
      send: (message) => {
        if (message.type === "call") {
          part.calls.add(message.call);
          clearTimeout(life.idle);
        }
        tell({ crawler, message });
      },
      terminate: async () => {
        // One that has said its last word needs no force, and one without a part is the process's own end.
        if (parts.delete(crawler)) this.#end(life, "SIGKILL");
        else if (parts.size === 0) this.#end(life, "SIGTERM");
      },
    };
  };

  #start(): Life {
    const { entry, log } = this.#options;
    const child = fork(entry, [], {
      env: allocator(process.env),
      execArgv: flags(fileURLToPath(entry)),
      // Copies typed arrays and big integers, as a thread's channel does.
      serialization: "advanced",
      // What it prints must not get between frames on the agent's own output.
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const life: Life = { child, parts: new Map(), idle: undefined };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (text: Buffer) => log.debug({}, text.toString("utf8", 0, 1_000).trimEnd()));
    }
    child.on("message", ({ crawler, message }: FromProcess) => {
      const part = life.parts.get(crawler);
      if (part === undefined) return;
      if (message.type === "end") part.calls.delete(message.call);
      if (message.type === "unready" || message.type === "disposed") life.parts.delete(crawler);
      part.events.message(message);
      if (message.type === "end" || message.type === "ready") this.#rest(life);
    });
    child.on("error", (error) => this.#over(life, `the process of file crawlers failed: ${errorMessage(error)}`));
    child.on("exit", (code, signal) => this.#over(life, `the process of file crawlers ended with ${signal ?? code}`));
    // It must not keep the agent alive.
    child.unref();
    child.channel?.unref();
    return life;
  }

  #rest(life: Life): void {
    clearTimeout(life.idle);
    for (const { calls } of life.parts.values()) if (calls.size > 0) return;
    life.idle = setTimeout(() => this.#end(life, "SIGTERM"), this.#options.idle ?? IDLE).unref();
  }

  /** Ends this life through no fault of the crawlers that still have a part in it. */
  #end(life: Life, signal: "SIGTERM" | "SIGKILL"): void {
    this.#over(life, null);
    life.child.kill(signal);
  }

  /** Tells the crawlers that have a part in it, once. */
  #over(life: Life, why: string | null): void {
    if (this.#life === life) this.#life = null;
    clearTimeout(life.idle);
    const parts = [...life.parts.values()];
    life.parts.clear();
    for (const { events } of parts) events.ended(why);
  }
}

/** The settings of the C library's allocator that the agent runs with, and nothing else. */
function allocator(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => name.startsWith("MALLOC_")));
}

/** Small, as the agent itself; and with Node's own permissions: the program's files, and its native code. */
function flags(entry: string): string[] {
  return [
    "--permission",
    "--allow-addons",
    `--allow-fs-read=${programFolder(entry)}`,
    // What it has mapped, so that it can give back what it does not need.
    "--allow-fs-read=/proc/self/smaps",
    "--disable-warning=SecurityWarning",
    "--disable-warning=ExperimentalWarning",
    "--max-semi-space-size=1",
    "--optimize-for-size",
    "--expose-gc",
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    ...(entry.endsWith(".ts") ? ["--conditions=@trawler/source"] : []),
  ];
}

/** The outermost folder above that holds packages: the bundle, a checkout, or what npm installed into. */
function programFolder(entry: string): string {
  let found = dirname(entry);
  for (let folder = found; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "node_modules"))) found = folder;
    if (dirname(folder) === folder) return found;
  }
}
