import { errorCode } from "./errors.ts";
import type { FileStatus, FileSystemAccess, ReadOptions } from "./files.ts";
import { glob } from "./glob.ts";

/** Of one pattern: a home for each of so many users. */
const MAX_OF_PATTERN = 200;

/**
 * Paths that patterns stand for, sorted, each once: `*` and `?` stay within a name. Only the folders of a name with such
 * signs are listed, so what follows the last of them, and a plain path, may not exist. A folder that is absent or may not
 * be read stands for nothing. `truncated`: a pattern stands for more than 200 paths, of which it gives the first.
 */
export async function expandPaths(
  fs: Pick<FileSystemAccess, "list">,
  patterns: readonly string[],
  options: ReadOptions = {},
): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
  const found = new Set<string>();
  // Many patterns begin in the same folders.
  const listed = new Map<string, Promise<readonly string[]>>();
  const entriesOf = (folder: string): Promise<readonly string[]> => {
    const known = listed.get(folder) ?? pathsIn(fs, folder, options);
    listed.set(folder, known);
    return known;
  };
  let truncated = false;
  for (const pattern of patterns) {
    let paths = [""];
    for (const name of pattern.split("/").filter((part) => part !== "")) {
      if (/[*?]/.test(name)) {
        const below = await Promise.all(paths.map((path) => entriesOf(path || "/")));
        paths = below.flat().filter((path) => glob(name, path.slice(path.lastIndexOf("/") + 1)));
        truncated ||= paths.length > MAX_OF_PATTERN;
        paths.length = Math.min(paths.length, MAX_OF_PATTERN);
      } else paths = paths.map((path) => `${path}/${name}`);
    }
    for (const path of paths) found.add(path || "/");
  }
  return { paths: [...found].sort(), truncated };
}

async function pathsIn(
  fs: Pick<FileSystemAccess, "list">,
  folder: string,
  options: ReadOptions,
): Promise<readonly string[]> {
  try {
    return (await fs.list(folder, options)).entries.map(({ path }) => path);
  } catch (error) {
    if (NOTHING.has(errorCode(error) ?? "")) return [];
    throw error;
  }
}

const NOTHING: ReadonlySet<string> = new Set([
  "TRAWLER_UNSUPPORTED",
  "TRAWLER_DENIED",
  "TRAWLER_REFUSED",
  "TRAWLER_LIMIT",
]);

/**
 * What is there of the paths that patterns stand for, sorted by path. Throws what refused to answer only where nothing
 * was found. `truncated` as for `expandPaths`.
 */
export async function findPaths(
  fs: Pick<FileSystemAccess, "list" | "stat">,
  patterns: readonly string[],
  options: ReadOptions = {},
): Promise<{ readonly files: readonly FileStatus[]; readonly truncated: boolean }> {
  const { paths, truncated } = await expandPaths(fs, patterns, options);
  const files: FileStatus[] = [];
  let failure: unknown;
  for (const path of paths) {
    try {
      files.push(await fs.stat(path, options));
    } catch (error) {
      if (!NOTHING.has(errorCode(error) ?? "")) throw error;
      if (errorCode(error) !== "TRAWLER_UNSUPPORTED") failure ??= error;
    }
  }
  if (files.length === 0 && failure !== undefined) throw failure;
  return { files, truncated };
}

/** A text that changes when one of the files does: paths, sizes and times, of which no program can set the last back. */
export function statFingerprint(files: readonly FileStatus[]): string {
  return files.map(({ path, size, modified, changed }) => `${path} ${size} ${modified} ${changed}`).join("\n");
}
