import { type CrawlContext, errorCode, errorMessage, type FileSystemAccess, partProblem } from "@trawler/plugin-api";
import { type NodePackage, parsePackage } from "./parse.ts";

export interface FoundPackage extends NodePackage {
  /** Its folder. */
  readonly path: string;
}

export interface Walk {
  readonly fs: FileSystemAccess;
  readonly signal: AbortSignal;
  readonly problem: CrawlContext["problem"];
}

/** Packages inside packages; more than any installer nests. */
const MAX_DEPTH = 24;
/** Folders that one crawl lists. */
const MAX_FOLDERS = 20_000;
/** Of which it reads the package.json, whether there is one or not. */
const MAX_ENTRIES = 50_000;
const MAX_MANIFEST = 262_144;

interface Folder {
  readonly path: string;
  readonly depth: number;
}

/**
 * Packages in a folder `node_modules` and in the packages there, in the order of their paths: scopes are looked into,
 * pnpm's store too, links at the top are read and not followed further.
 */
export async function* walkModules(walk: Walk, root: string): AsyncGenerator<FoundPackage> {
  const folders: Folder[] = [{ path: root, depth: 0 }];
  let count = 0;
  let looked = 0;
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    const { path: at, depth } = folder;
    if (++count > MAX_FOLDERS || looked > MAX_ENTRIES || depth > MAX_DEPTH) {
      walk.problem("truncated", `${root}: more folders, or deeper ones, than are read`);
      return;
    }
    const entries = await entriesOf(walk, at);
    looked += entries.length;
    // With a store, links lead to what is found there anyway.
    const links = depth === 0 && !entries.some(({ path }) => path.endsWith("/.pnpm"));
    const below: Folder[] = [];
    for (const { path, type } of entries) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      if (type !== "directory" && !(links && type === "symlink")) continue;
      if (name === ".pnpm") below.push(...(await storeOf(walk, path, depth + 1)));
      else if (name.startsWith("@")) below.push({ path, depth: depth + 1 });
      else if (!name.startsWith(".")) {
        const found = await readPackage(walk, path);
        if (found !== null) yield found;
        if (type === "directory") below.push({ path: `${path}/node_modules`, depth: depth + 1 });
      }
    }
    folders.push(...below.reverse());
  }
}

/** pnpm's store: each of its folders holds one package in a `node_modules` of its own, beside links. */
async function storeOf(walk: Walk, path: string, depth: number): Promise<readonly Folder[]> {
  return (await entriesOf(walk, path)).map((stored) => ({ path: `${stored.path}/node_modules`, depth }));
}

/** Null where there is none, or one without a name or a version. */
export async function readPackage({ fs, signal }: Walk, path: string): Promise<FoundPackage | null> {
  try {
    const text = await fs.readText(`${path}/package.json`, { signal, maxBytes: MAX_MANIFEST });
    const found = parsePackage(text);
    return found && { ...found, path };
  } catch (error) {
    // One that is refused or too large is no package that a program could load.
    if (NOTHING.has(errorCode(error) ?? "")) return null;
    throw error;
  }
}

async function entriesOf({ fs, signal, problem }: Walk, path: string) {
  try {
    const { entries, truncated } = await fs.list(path, { signal });
    if (truncated) problem("truncated", `${path}: more entries than are read`);
    return entries;
  } catch (error) {
    if (errorCode(error) !== "TRAWLER_UNSUPPORTED") problem(partProblem(error), errorMessage(error));
    return [];
  }
}

const NOTHING: ReadonlySet<string> = new Set([
  "TRAWLER_UNSUPPORTED",
  "TRAWLER_DENIED",
  "TRAWLER_REFUSED",
  "TRAWLER_LIMIT",
]);
