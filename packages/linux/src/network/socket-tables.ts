import { TrawlerError } from "@trawler/plugin-api";
import { isDenied, isGone, orNull, type ProcFiles } from "../proc/files.ts";
import type { Belongs } from "../proc/process-reader.ts";
import { parseSockets, SOCKET_TABLES, type SocketRow } from "./sockets.ts";

const TABLE_BYTES = 8 * 1024 * 1024;
const TABLE_ROWS = 50_000;
const TABLE_TIMEOUT = 5000;
/** Milliseconds: one crawl of a pod asks for each container and each application. */
const KEEP = 1000;

/**
 * The sockets of one network namespace, which a pod's containers share. The kernel goes through the table of the whole
 * machine for each namespace's `tcp` and `tcp6` (milliseconds, however few there are), so an answer is kept for a second.
 */
export class SocketTables {
  readonly #files: ProcFiles;
  readonly #namespace: { pids(): Iterable<number>; readonly belongs: Belongs };
  #current: Promise<readonly SocketRow[]> | null = null;

  /** `pids`: processes that are in the namespace, best first; `belongs` tells by `/proc/PID/cgroup` that they still are. */
  constructor(files: ProcFiles, namespace: { pids(): Iterable<number>; readonly belongs: Belongs }) {
    this.#files = files;
    this.#namespace = namespace;
  }

  /** Rows as the kernel gives them, tcp first. Throws TRAWLER_GONE where no process of the namespace is left. */
  async rows(): Promise<readonly SocketRow[]> {
    if (this.#current !== null) return this.#current;
    const reading = this.#read();
    this.#current = reading;
    const forget = (): void => {
      if (this.#current === reading) this.#current = null;
    };
    try {
      const rows = await reading;
      setTimeout(forget, KEEP).unref();
      return rows;
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** The tables of the first process that still is one of them when they have been read. */
  async #read(): Promise<readonly SocketRow[]> {
    const { pids, belongs } = this.#namespace;
    for (const pid of pids.call(this.#namespace)) {
      const rows: SocketRow[] = [];
      let found = false;
      for (const table of SOCKET_TABLES) {
        const text = await this.#table(`${pid}/net/${table}`);
        if (text === null) continue;
        found = true;
        rows.push(...parseSockets(text, table, TABLE_ROWS - rows.length));
      }
      // A process that ends takes `net` with it; one that merely has no IPv6 lacks `tcp6` alone.
      const cgroup = orNull(() => this.#files.text(`${pid}/cgroup`));
      if (found && cgroup !== null && belongs(cgroup)) return rows;
    }
    throw new TrawlerError("TRAWLER_GONE", "no process of the network namespace runs any more");
  }

  async #table(path: string): Promise<string | null> {
    try {
      const text = await this.#files.longText(path, { maxBytes: TABLE_BYTES, timeout: TABLE_TIMEOUT });
      if (text === null) throw new TrawlerError("TRAWLER_RETRY", `/proc/${path} does not answer`);
      return text;
    } catch (error) {
      if (isGone(error) || isDenied(error)) return null;
      throw error;
    }
  }
}
