import { fstatSync } from "node:fs";
import { errorCode, type FileStatus, TrawlerError } from "@trawler/plugin-api";
import type { Budget } from "./budget.ts";
import { closeQuietly } from "./descriptor.ts";
import { linkText } from "./descriptor-walk.ts";
import { shown } from "./errors.ts";
import { readFolder } from "./list.ts";
import type { Owners } from "./owners.ts";
import { encodePath, joinPath } from "./path.ts";
import type { Resolver } from "./resolver.ts";
import { fileStatus } from "./status.ts";

export interface TreeBounds {
  readonly maxEntries: number;
  readonly maxDepth: number;
  /** Tells by its path what is left out, with all below it. */
  readonly excluded: (path: string) => boolean;
  readonly owners: Owners;
}

interface Level {
  readonly descriptor: number;
  readonly path: string;
  readonly open: (name: Buffer) => number;
  readonly names: Buffer[];
}

const BATCH = 256;

/**
 * Walks one folder depth first, each folder's entries by name, a folder before what it holds; never onto another mount.
 * What vanishes meanwhile is left out. At the end it throws TRAWLER_LIMIT where a bound cut it short, or TRAWLER_DENIED
 * where parts could not be read: everything else has been given by then.
 */
export class TreeWalk implements Disposable {
  readonly #resolver: Resolver;
  readonly #bounds: TreeBounds;
  readonly #budget: Budget;
  readonly #path: string;
  readonly #levels: Level[] = [];
  #left: number;
  #cut = false;
  #denied = 0;

  constructor(resolver: Resolver, path: string, bounds: TreeBounds, budget: Budget) {
    this.#resolver = resolver;
    this.#path = path;
    this.#bounds = bounds;
    this.#budget = budget;
    this.#left = bounds.maxEntries;
  }

  /** Takes over the descriptor of the folder to walk. */
  async *run(descriptor: number): AsyncGenerator<readonly FileStatus[]> {
    try {
      await this.#push(descriptor, this.#path);
      let batch: FileStatus[] = [];
      for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
        const name = level.names.pop();
        if (name === undefined) this.#leave();
        else {
          const found = await this.#visit(level, name);
          if (found !== null) batch.push(found);
        }
        if (batch.length >= BATCH || (this.#levels.length === 0 && batch.length > 0)) {
          this.#budget.pause();
          yield batch;
          this.#budget.resume();
          this.#budget.check();
          batch = [];
        }
        await this.#budget.turn();
      }
      this.#conclude();
    } finally {
      this[Symbol.dispose]();
    }
  }

  [Symbol.dispose](): void {
    while (this.#levels.length > 0) this.#leave();
  }

  async #visit(level: Level, name: Buffer): Promise<FileStatus | null> {
    const path = joinPath(level.path, encodePath(name));
    if (this.#bounds.excluded(path)) return null;
    let descriptor = -1;
    try {
      descriptor = level.open(name);
      const stats = fstatSync(descriptor);
      const link = stats.isSymbolicLink() ? encodePath(linkText(level.descriptor, name)) : null;
      const status = fileStatus(path, stats, link, this.#bounds.owners);
      if (stats.isDirectory()) {
        if (this.#levels.length < this.#bounds.maxDepth) {
          const folder = descriptor;
          descriptor = -1;
          await this.#enter(folder, path);
        } else this.#cut = true;
      }
      return status;
    } catch (error) {
      this.#skip(error);
      return null;
    } finally {
      if (descriptor !== -1) closeQuietly(descriptor);
    }
  }

  /** A folder that cannot be listed is given all the same; only what it holds is left out. */
  async #enter(descriptor: number, path: string): Promise<void> {
    try {
      await this.#push(descriptor, path);
    } catch (error) {
      this.#skip(error);
    }
  }

  async #push(descriptor: number, path: string): Promise<void> {
    try {
      const { entries, truncated } = await readFolder(descriptor, this.#left, this.#budget);
      if (truncated) this.#cut = true;
      this.#left -= entries.length;
      const names = entries.map((entry) => entry.name).sort(Buffer.compare);
      const open = this.#resolver.entries(descriptor);
      this.#levels.push({ descriptor, path, open, names: names.reverse() });
    } catch (error) {
      closeQuietly(descriptor);
      throw error;
    }
  }

  #leave(): void {
    const level = this.#levels.pop();
    if (level !== undefined) closeQuietly(level.descriptor);
  }

  #skip(error: unknown): void {
    switch (errorCode(error)) {
      case "ENOENT":
      case "ESTALE":
      case "ENOTDIR":
      case "EINVAL":
      case "EXDEV":
        return;
      case "EACCES":
      case "EPERM":
      case "EIO":
        this.#denied += 1;
        return;
      default:
        throw error;
    }
  }

  #conclude(): void {
    if (this.#cut) {
      const { maxEntries, maxDepth } = this.#bounds;
      throw new TrawlerError(
        "TRAWLER_LIMIT",
        `${shown(this.#path)}: more than ${maxEntries} entries or ${maxDepth} levels; the rest was left out`,
      );
    }
    if (this.#denied > 0) {
      throw new TrawlerError("TRAWLER_DENIED", `${shown(this.#path)}: ${this.#denied} entries could not be read`);
    }
  }
}
