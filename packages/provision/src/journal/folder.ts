import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { isInstance } from "./instance.ts";
import { fileOf, Journal } from "./journal.ts";

/** Where the journals of all runs are. */
export class JournalFolder {
  readonly path: string;

  /** Throws TRAWLER_DENIED where it cannot be made. */
  constructor(path: string) {
    this.path = path;
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
    } catch (error) {
      const why = errorCode(error) ?? errorMessage(error);
      throw new TrawlerError(
        "TRAWLER_DENIED",
        `the journals' folder ${path} cannot be made (${why}); name another: --state`,
      );
    }
  }

  /** Oldest first. */
  instances(): readonly string[] {
    return readdirSync(this.path)
      .flatMap((name) => (name.endsWith(".journal") ? [name.slice(0, -".journal".length)] : []))
      .filter(isInstance)
      .sort();
  }

  /** Instances of whose files some are left, and not the journal: a removal was cut off. */
  remnants(): readonly string[] {
    const kept = new Set(this.instances());
    const found = readdirSync(this.path).map((name) => name.slice(0, name.indexOf(".")));
    return [...new Set(found.filter((name) => isInstance(name) && !kept.has(name)))];
  }

  /** The instance that a whole id or its beginning names. Throws TRAWLER_CONFIG_INVALID. */
  find(text: string): string {
    const wanted = text.toLowerCase();
    const found = this.instances().filter((instance) => instance.startsWith(wanted));
    if (found.length === 1 && found[0] !== undefined && wanted.length >= 4) return found[0];
    const why = found.length > 1 ? "several instances begin with" : "there is no instance";
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `${why} ${text} in ${this.path}; see trawl provision list`);
  }

  open(instance: string, readOnly = false): Journal {
    if (!existsSync(fileOf(this.path, instance))) {
      throw new TrawlerError("TRAWLER_CONFIG_INVALID", `there is no instance ${instance} in ${this.path}`);
    }
    return Journal.open(this.path, instance, readOnly);
  }

  /** Takes the run for this process until it is disposed or the process ends, however it ends. Null where it is taken. */
  lock(instance: string, wait = 2_000): Disposable | null {
    const database = new DatabaseSync(join(this.path, `${instance}.lock`), { timeout: wait });
    try {
      database.exec("BEGIN EXCLUSIVE");
    } catch {
      database.close();
      return null;
    }
    return { [Symbol.dispose]: () => database.close() };
  }

  /** Forgets a run. Only for who holds its lock. The journal goes first: without it nothing else of it is looked at. */
  remove(instance: string): void {
    for (const ending of ["journal", "journal-wal", "journal-shm", "key", "lock"])
      rmSync(join(this.path, `${instance}.${ending}`), { force: true });
  }

  isRunning(instance: string): boolean {
    if (!existsSync(join(this.path, `${instance}.lock`))) return false;
    using lock = this.lock(instance, 0);
    return lock === null;
  }
}
