import {
  type CrawlContext,
  errorCode,
  errorMessage,
  type FileStatus,
  type FileSystemAccess,
  partProblem,
} from "@trawler/plugin-api";

/** Entries that are looked at for one file that is reported: what is left out is looked at, too. */
const LOOKED_AT = 200_000;

export interface WalkSettings {
  readonly paths: readonly string[];
  readonly exclude: readonly string[];
  readonly maxFiles: number;
  readonly maxDepth: number;
}

/**
 * The folders themselves and all below them. A folder that is not there is silent; what could not be read, or is too much,
 * is a problem, and all else is given.
 */
export async function* walkFiles(
  fs: FileSystemAccess,
  { paths, exclude, maxFiles, maxDepth }: WalkSettings,
  { signal, problem }: Pick<CrawlContext, "signal" | "problem">,
): AsyncGenerator<FileStatus> {
  let left = maxFiles;
  for (const path of paths) {
    try {
      const folder = await fs.stat(path, { signal });
      if (left-- > 0) yield folder;
      if (folder.type !== "directory") continue;
      for await (const batch of fs.walk(path, { signal, exclude, maxDepth, maxEntries: LOOKED_AT })) {
        for (const status of batch) {
          if (left-- <= 0) {
            problem("truncated", `stopped after ${maxFiles} files: maxFiles; exclude what is not needed`);
            return;
          }
          yield status;
        }
      }
    } catch (error) {
      told(error, problem);
    }
  }
}

/** What is not there is silent; what keeps a part from being read is told; anything else ends the crawl. */
function told(error: unknown, problem: CrawlContext["problem"]): void {
  if (errorCode(error) !== "TRAWLER_UNSUPPORTED") problem(partProblem(error), errorMessage(error));
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
