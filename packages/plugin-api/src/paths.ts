import { errorCode } from "./errors.ts";
import type { FileSystemAccess, ReadOptions } from "./files.ts";
import { glob } from "./glob.ts";

const MAX_PATHS = 1000;

/**
 * Paths that patterns stand for, sorted, each once: `*` and `?` stay within a name. Only the folders of a name with such
 * signs are listed, so what follows the last of them, and a plain path, may not exist. A folder that is absent or may not
 * be read stands for nothing. At most `max` (default 1,000).
 */
export async function expandPaths(
  fs: Pick<FileSystemAccess, "list">,
  patterns: readonly string[],
  options: ReadOptions & { readonly max?: number } = {},
): Promise<readonly string[]> {
  const { max = MAX_PATHS, ...rest } = options;
  const found = new Set<string>();
  for (const pattern of patterns) {
    let paths = [""];
    for (const name of pattern.split("/").filter((part) => part !== "")) {
      if (!/[*?]/.test(name)) paths = paths.map((path) => `${path}/${name}`);
      else paths = (await Promise.all(paths.map((path) => namesIn(fs, path || "/", name, rest)))).flat().slice(0, max);
    }
    for (const path of paths) if (found.size < max) found.add(path || "/");
  }
  return [...found].sort();
}

async function namesIn(
  fs: Pick<FileSystemAccess, "list">,
  folder: string,
  pattern: string,
  options: ReadOptions,
): Promise<readonly string[]> {
  try {
    const { entries } = await fs.list(folder, options);
    return entries.map(({ path }) => path).filter((path) => glob(pattern, path.slice(path.lastIndexOf("/") + 1)));
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
