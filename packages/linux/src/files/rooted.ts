import { fstatSync } from "node:fs";
import {
  errorCode,
  type FileContent,
  type FileDigest,
  type FileEntry,
  type FileStatus,
  type FileSystemAccess,
  type FileSystemsOptions,
  pathMatcher,
  type ReadOptions,
  TrawlerError,
  type WalkOptions,
} from "@trawler/plugin-api";
import { SystemError } from "../ffi/libc.ts";
import type { Mount } from "../proc/mountinfo.ts";
import { Budget } from "./budget.ts";
import { closeQuietly, fileType, reopen } from "./descriptor.ts";
import { linkText } from "./descriptor-walk.ts";
import { digestContent } from "./digest.ts";
import { fileError, gone, shown } from "./errors.ts";
import { readFolder } from "./list.ts";
import { readFileSystems } from "./mount-table.ts";
import { isOpaque, isWhiteout, type LayerEntry } from "./overlay.ts";
import type { Owners } from "./owners.ts";
import { decodePath, encodePath, joinPath, splitPath } from "./path.ts";
import { readContent } from "./read.ts";
import { MAX_FOLDERS, type Resolver } from "./resolver.ts";
import { shareThread } from "./share-thread.ts";
import { fileStatus } from "./status.ts";
import { TreeWalk } from "./tree.ts";

const DEFAULT_MAX_BYTES = 1024 * 1024;
const HIGHEST_MAX_BYTES = 256 * 1024 * 1024;
const DEFAULT_LIST = 10_000;
const DEFAULT_WALK = 100_000;
const DEFAULT_DEPTH = 64;
const WALK_FACTOR = 6;
const HIGHEST_ENTRIES = 1_000_000;

/** What a rooted file system stands on. `root` is an O_PATH descriptor that it takes over. */
export interface RootedOptions {
  readonly root: number;
  readonly resolver: Resolver;
  /** Working time of one call, milliseconds. */
  readonly timeout: number;
  /** Whether the member still runs. */
  readonly alive: () => boolean;
  /** Its mounts now, with mount points from its root. */
  readonly mounts: () => readonly Mount[];
  readonly owners: Owners;
  /** Gives back what was opened beside the root. */
  readonly release: () => void;
}

/** The files below one root: every path is resolved inside it, every answer is bounded and worded in its paths. */
export class RootedFileSystem implements FileSystemAccess, AsyncDisposable {
  readonly #options: RootedOptions;
  readonly #closed = new AbortController();
  readonly #walks = new Set<TreeWalk>();

  constructor(options: RootedOptions) {
    this.#options = options;
  }

  read: FileSystemAccess["read"] = (path, options = {}): Promise<FileContent> => {
    const max = bound(options.maxBytes, DEFAULT_MAX_BYTES, HIGHEST_MAX_BYTES);
    const offset = bound(options.offset, 0, Number.MAX_SAFE_INTEGER - HIGHEST_MAX_BYTES);
    return this.#use(path, options, true, (descriptor, budget) => readContent(descriptor, { offset, max }, budget));
  };

  digest: FileSystemAccess["digest"] = (path, options): Promise<FileDigest> => {
    const max = bound(options.maxBytes, HIGHEST_MAX_BYTES, HIGHEST_MAX_BYTES);
    const { algorithm } = options;
    return this.#use(path, options, true, (descriptor, budget) =>
      digestContent(descriptor, { algorithm, max }, budget),
    );
  };

  async readText(path: string, options: ReadOptions & { readonly maxBytes?: number } = {}): Promise<string> {
    const { bytes, truncated } = await this.read(path, options);
    if (truncated) throw new TrawlerError("TRAWLER_LIMIT", `${shown(path)}: larger than ${bytes.length} bytes`);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  }

  stat(path: string, options: ReadOptions = {}): Promise<FileStatus> {
    return this.#use(path, options, false, (descriptor) => {
      const stats = fstatSync(descriptor);
      const link = stats.isSymbolicLink() ? this.#link(path) : null;
      return Promise.resolve(fileStatus(absolute(path), stats, link, this.#options.owners));
    });
  }

  /** One entry of a layer, as overlayfs reads it; null where this layer says nothing about it. */
  async layerEntry(path: string, options: ReadOptions = {}): Promise<LayerEntry | null> {
    try {
      return await this.#use(path, options, false, async (descriptor) => {
        const stats = fstatSync(descriptor);
        const link = stats.isSymbolicLink() ? this.#link(path) : null;
        return {
          status: fileStatus(absolute(path), stats, link, this.#options.owners),
          whiteout: isWhiteout(stats),
          opaque: stats.isDirectory() && (await isOpaque(descriptor)),
        };
      });
    } catch (error) {
      if (errorCode(error) === "TRAWLER_UNSUPPORTED") return null;
      throw error;
    }
  }

  list(
    path: string,
    options: ReadOptions & { readonly maxEntries?: number } = {},
  ): Promise<{ readonly entries: readonly FileEntry[]; readonly truncated: boolean }> {
    const max = bound(options.maxEntries, DEFAULT_LIST, HIGHEST_ENTRIES);
    return this.#use(path, options, true, async (descriptor, budget) => {
      const { entries, truncated } = await readFolder(descriptor, max, budget);
      const folder = absolute(path);
      entries.sort((a, b) => Buffer.compare(a.name, b.name));
      return {
        entries: entries.map((entry) => ({ path: joinPath(folder, encodePath(entry.name)), type: entry.type })),
        truncated,
      };
    });
  }

  async *walk(path: string, options: WalkOptions = {}): AsyncGenerator<readonly FileStatus[]> {
    const bounds = {
      maxEntries: bound(options.maxEntries, DEFAULT_WALK, HIGHEST_ENTRIES),
      maxDepth: bound(options.maxDepth, DEFAULT_DEPTH, MAX_FOLDERS),
      excluded: pathMatcher(options.exclude ?? []),
      owners: this.#options.owners,
    };
    let walk: TreeWalk | undefined;
    try {
      const budget = this.#budget(path, options, WALK_FACTOR);
      const descriptor = this.#find(path, true);
      walk = new TreeWalk(this.#options.resolver, absolute(path), bounds, budget);
      this.#walks.add(walk);
      yield* walk.run(descriptor);
    } catch (error) {
      throw this.#explain(error, path);
    } finally {
      if (walk !== undefined) this.#walks.delete(walk);
    }
  }

  fileSystems(options: FileSystemsOptions = {}): ReturnType<FileSystemAccess["fileSystems"]> {
    const { mounts, root } = this.#options;
    const excluded = pathMatcher(options.exclude ?? []);
    const query = { mounts, root, excluded, excludedTypes: new Set(options.excludeTypes) };
    return this.#use("/", options, false, (_, budget) => readFileSystems(query, budget));
  }

  /** Finds a unix socket; the caller closes the descriptor. Throws as the other calls do. */
  openSocket(path: string): number {
    try {
      this.#budget(path, {});
      const descriptor = this.#find(path, true);
      if (fileType(fstatSync(descriptor)) === "socket") return descriptor;
      closeQuietly(descriptor);
      throw new SystemError("ENOTSOCK");
    } catch (error) {
      throw this.#explain(error, path);
    }
  }

  /** Opens a regular file to be read; the caller closes the descriptor. Throws as the other calls do. */
  openFile(path: string): number {
    let found = -1;
    try {
      this.#budget(path, {});
      found = this.#find(path, true);
      return reopen(found, "file");
    } catch (error) {
      throw this.#explain(error, path);
    } finally {
      if (found !== -1) closeQuietly(found);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closed.signal.aborted) {
      this.#closed.abort();
      for (const walk of this.#walks) walk[Symbol.dispose]();
      closeQuietly(this.#options.root);
      this.#options.release();
    }
    return Promise.resolve();
  }

  async #use<T>(
    path: string,
    options: ReadOptions,
    follow: boolean,
    work: (descriptor: number, budget: Budget) => Promise<T>,
  ): Promise<T> {
    let descriptor = -1;
    try {
      await shareThread();
      const budget = this.#budget(path, options);
      descriptor = this.#find(path, follow);
      return await work(descriptor, budget);
    } catch (error) {
      throw this.#explain(error, path);
    } finally {
      if (descriptor !== -1) closeQuietly(descriptor);
    }
  }

  #budget(path: string, options: ReadOptions, factor = 1): Budget {
    const budget = new Budget(path, this.#closed.signal, this.#options.timeout * factor, options.signal);
    if (!this.#options.alive()) throw gone(path);
    return budget;
  }

  #find(path: string, follow: boolean): number {
    return this.#options.resolver.open(this.#options.root, pathBytes(path), follow);
  }

  /** A link's text is read through its folder; null where it is a link no more. */
  #link(path: string): string | null {
    const bytes = pathBytes(path);
    const name = splitPath(bytes).at(-1);
    if (name === undefined) return null;
    const folder = this.#options.resolver.open(this.#options.root, bytes.subarray(0, bytes.lastIndexOf(name)), true);
    try {
      return encodePath(linkText(folder, name));
    } catch {
      return null;
    } finally {
      closeQuietly(folder);
    }
  }

  /** What fails because the member has ended is `gone`, whatever the kernel called it. */
  #explain(error: unknown, path: string): TrawlerError {
    const ended = this.#closed.signal.aborted || !this.#options.alive();
    return ended ? gone(path) : fileError(error, path);
  }
}

/** The bytes of a path from the root, without what says nothing: `.`, doubled slashes and those at its end. */
function pathBytes(path: string): Buffer {
  const bytes = decodePath(path);
  if (bytes.includes(0)) throw new SystemError("EINVAL");
  return Buffer.concat(splitPath(bytes).flatMap((part) => [SLASH, part]));
}

const SLASH = Buffer.from("/");

/** The same as the member would write it. */
function absolute(path: string): string {
  const bytes = pathBytes(path);
  return bytes.length === 0 ? "/" : encodePath(bytes);
}

function bound(value: number | undefined, usual: number, highest: number): number {
  if (value === undefined || Number.isNaN(value)) return usual;
  return Math.min(Math.max(Math.trunc(value), 0), highest);
}
