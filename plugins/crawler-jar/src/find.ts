import { errorCode, type FileStatus, type FileSystemAccess } from "@trawler/plugin-api";

export interface Search {
  readonly paths: readonly string[];
  readonly exclude: readonly string[];
  readonly isArchive: (name: string) => boolean;
  readonly max: number;
  readonly signal: AbortSignal;
  /** Told what could not be walked, or not whole. */
  readonly failed: (error: unknown) => void;
}

/** Regular files whose names say that they are archives, each once, in the order of the walks. */
export async function findArchives(
  fs: FileSystemAccess,
  { paths, exclude, isArchive, max, signal, failed }: Search,
): Promise<{ readonly archives: readonly FileStatus[]; readonly truncated: boolean }> {
  const found = new Map<string, FileStatus>();
  for (const root of paths) {
    try {
      for await (const batch of fs.walk(root, { exclude, signal })) {
        for (const status of batch) {
          if (status.type !== "file" || !isArchive(status.path)) continue;
          if (found.size === max && !found.has(status.path)) return { archives: [...found.values()], truncated: true };
          found.set(status.path, status);
        }
      }
    } catch (error) {
      if (errorCode(error) !== "TRAWLER_UNSUPPORTED") failed(error);
    }
  }
  return { archives: [...found.values()], truncated: false };
}
