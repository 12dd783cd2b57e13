import {
  errorCode,
  type FileEntry,
  type FileStatus,
  type FileSystemAccess,
  pathMatcher,
  type ReadOptions,
  TrawlerError,
  unsupported,
  type WalkOptions,
} from "@trawler/plugin-api";
import { shown } from "./errors.ts";
import { joinPath } from "./path.ts";
import { MAX_FOLDERS, MAX_LINKS } from "./resolver.ts";
import type { RootedFileSystem } from "./rooted.ts";

const DEFAULT_LIST = 10_000;
const DEFAULT_WALK = 100_000;
const DEFAULT_DEPTH = 64;
const BATCH = 256;

/** Something in the union: a folder with all layers that make it up, anything else with the one that holds it. */
interface Place {
  readonly path: string;
  readonly layers: readonly RootedFileSystem[];
  readonly status: FileStatus;
}

/**
 * The union of folders as overlayfs mounts it, the uppermost first, without a mount: for a container that does not run.
 * Whiteouts hide what lies below, and so do opaque folders (which takes CAP_SYS_ADMIN to see). Links are resolved in the
 * union, never by a layer. Folders that were renamed (`redirect_dir`) have only what was put into them since.
 */
export class LayeredFileSystem implements FileSystemAccess, AsyncDisposable {
  readonly #layers: readonly RootedFileSystem[];

  constructor(layers: readonly RootedFileSystem[]) {
    this.#layers = layers;
  }

  read: FileSystemAccess["read"] = async (path, options = {}) => {
    const { layer, at } = await this.#holder(path, options);
    return layer.read(at, options);
  };

  readText: FileSystemAccess["readText"] = async (path, options = {}) => {
    const { layer, at } = await this.#holder(path, options);
    return layer.readText(at, options);
  };

  digest: FileSystemAccess["digest"] = async (path, options) => {
    const { layer, at } = await this.#holder(path, options);
    return layer.digest(at, options);
  };

  async stat(path: string, options: ReadOptions = {}): Promise<FileStatus> {
    return (await this.#resolve(path, false, options)).status;
  }

  async list(
    path: string,
    options: ReadOptions & { readonly maxEntries?: number } = {},
  ): Promise<{ readonly entries: readonly FileEntry[]; readonly truncated: boolean }> {
    const place = await this.#resolve(path, true, options);
    const { names, truncated } = await entriesOf(place, options.maxEntries ?? DEFAULT_LIST, options);
    const entries: FileEntry[] = [];
    for (const name of names) {
      const found = await child(place, name, options);
      if (found !== null) entries.push({ path: joinPath(path, name), type: found.status.type });
    }
    return { entries, truncated };
  }

  async *walk(path: string, options: WalkOptions = {}): AsyncGenerator<readonly FileStatus[]> {
    const { maxEntries = DEFAULT_WALK, maxDepth = DEFAULT_DEPTH } = options;
    const excluded = pathMatcher(options.exclude ?? []);
    let left = maxEntries;
    let cut = false;
    let denied = 0;
    let batch: FileStatus[] = [];
    const open = async (place: Place): Promise<{ place: Place; names: string[] }> => {
      try {
        const { names, truncated } = await entriesOf(place, left, options);
        left -= names.length;
        cut ||= truncated;
        return { place, names: [...names].reverse() };
      } catch (error) {
        if (errorCode(error) !== "TRAWLER_DENIED") throw error;
        denied++;
        return { place, names: [] };
      }
    };
    const levels = [await open(await this.#resolve(path, true, options))];
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const name = level.names.pop();
      if (name === undefined) {
        levels.pop();
        continue;
      }
      if (excluded(joinPath(level.place.path, name))) continue;
      const found = await child(level.place, name, options);
      if (found === null) continue;
      batch.push(found.status);
      if (found.status.type === "directory") {
        if (levels.length < maxDepth) levels.push(await open(found));
        else cut = true;
      }
      if (batch.length >= BATCH) {
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
    if (cut) throw new TrawlerError("TRAWLER_LIMIT", `${shown(path)}: the rest was left out`);
    if (denied > 0) throw new TrawlerError("TRAWLER_DENIED", `${shown(path)}: ${denied} folders could not be read`);
  }

  /** There is no mount. */
  fileSystems(): ReturnType<FileSystemAccess["fileSystems"]> {
    return Promise.reject(unsupported("layers are not mounted"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const layer of this.#layers) await layer[Symbol.asyncDispose]();
  }

  async #holder(path: string, options: ReadOptions): Promise<{ layer: RootedFileSystem; at: string }> {
    const { layers, path: at } = await this.#resolve(path, true, options);
    const [layer] = layers;
    if (layer === undefined) throw absent(path);
    return { layer, at };
  }

  async #resolve(path: string, follow: boolean, options: ReadOptions): Promise<Place> {
    const root = await rootOf(this.#layers, options);
    const steps: Place[] = [root];
    const pending = namesOf(path).reverse();
    let links = 0;
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      const here = steps.at(-1) ?? root;
      if (name === "..") {
        if (steps.length > 1) steps.pop();
        continue;
      }
      const next = await child(here, name, options);
      if (next === null) throw absent(path);
      const { type, link } = next.status;
      if (type !== "symlink" || (pending.length === 0 && !follow)) {
        if (type !== "directory" && pending.length > 0) throw absent(path);
        steps.push(next);
        if (steps.length > MAX_FOLDERS)
          throw new TrawlerError("TRAWLER_REFUSED", `${shown(path)}: the path is too long`);
        continue;
      }
      links++;
      if (links > MAX_LINKS) throw new TrawlerError("TRAWLER_REFUSED", `${shown(path)}: too many symbolic links`);
      if (link?.startsWith("/") === true) steps.length = 1;
      pending.push(...namesOf(link ?? "").reverse());
    }
    return steps.at(-1) ?? root;
  }
}

async function rootOf(layers: readonly RootedFileSystem[], options: ReadOptions): Promise<Place> {
  const [top] = layers;
  if (top === undefined) throw unsupported("there is no layer");
  return { path: "/", layers, status: await top.stat("/", options) };
}

/** One entry of a folder: what the uppermost layer says, of folders what all say down to one that hides the rest. */
async function child(parent: Place, name: string, options: ReadOptions): Promise<Place | null> {
  const path = joinPath(parent.path, name);
  const layers: RootedFileSystem[] = [];
  let status: FileStatus | null = null;
  for (const layer of parent.layers) {
    const entry = await layer.layerEntry(path, options);
    if (entry === null) continue;
    const isFolder = entry.status.type === "directory";
    if (entry.whiteout || (status !== null && !isFolder)) break;
    status ??= entry.status;
    layers.push(layer);
    if (!isFolder || entry.opaque) break;
  }
  return status === null ? null : { path, layers, status };
}

/** Names in all layers of a folder, sorted; what whiteouts hide is among them. */
async function entriesOf(
  { path, layers, status }: Place,
  max: number,
  options: ReadOptions,
): Promise<{ readonly names: readonly string[]; readonly truncated: boolean }> {
  if (status.type !== "directory") throw unsupported(`${shown(path)}: not a folder`);
  const names = new Set<string>();
  let truncated = false;
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  for (const layer of layers) {
    const found = await layer.list(path, { ...signal, maxEntries: max });
    truncated ||= found.truncated;
    for (const entry of found.entries) names.add(entry.path.slice(entry.path.lastIndexOf("/") + 1));
  }
  const sorted = [...names].sort();
  return { names: sorted.slice(0, max), truncated: truncated || sorted.length > max };
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function absent(path: string): TrawlerError {
  return unsupported(`${shown(path)}: no such file`);
}
