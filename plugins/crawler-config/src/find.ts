import {
  type CrawlContext,
  errorCode,
  errorMessage,
  type FileStatus,
  type FileSystemAccess,
  partProblem,
  pathMatcher,
} from "@trawler/plugin-api";

/** Entries that are looked at below one folder. */
const LOOKED_AT = 50_000;
/** Bytes that a link's file is compared by: what it leads to may change while the link does not. */
const COMPARED = 1_048_576;

export interface FindSettings {
  readonly files: readonly string[];
  readonly discover: boolean;
  readonly discoverIn: readonly string[];
  readonly extensions: readonly string[];
  readonly discoverMaxBytes: number;
  readonly exclude: readonly string[];
  readonly maxFiles: number;
}

type Context = Pick<CrawlContext, "signal" | "problem">;

/** The files to read, each once: those that are named, those that globs name, those that are found; not read yet. */
export async function findFiles(
  fs: FileSystemAccess,
  settings: FindSettings,
  context: Context,
): Promise<readonly FileStatus[]> {
  const { files, discover, discoverIn, extensions, discoverMaxBytes, exclude, maxFiles } = settings;
  const found = new Map<string, FileStatus>();
  for (const path of files.filter((one) => !isGlob(one))) {
    await attempt(context, async () => keep(found, await fs.stat(path, { signal: context.signal })));
  }
  for (const [folder, globs] of byFolder(files.filter(isGlob))) {
    const matches = pathMatcher(globs);
    await walk(fs, folder, [], context, (status) => matches(status.path) && keep(found, status));
  }
  const endings = new Set(extensions);
  for (const folder of discover ? discoverIn : []) {
    await walk(fs, folder, exclude, context, (status) => {
      const wanted = status.type === "file" && status.size <= discoverMaxBytes && endings.has(extensionOf(status.path));
      if (wanted) keep(found, status);
    });
  }
  if (found.size > maxFiles) context.problem("truncated", `${maxFiles} of ${found.size} files: maxFiles`);
  return [...found.values()].slice(0, maxFiles);
}

/** What the files look like from outside; a link is followed, as its file may change alone. */
export async function fingerprintOf(
  fs: FileSystemAccess,
  files: readonly FileStatus[],
  signal: AbortSignal,
): Promise<string> {
  const parts: string[] = [];
  for (const { path, size, changed, link } of files) {
    parts.push(`${path} ${size} ${changed} ${link === null ? "" : await digestOf(fs, path, signal)}`);
  }
  return parts.join("\n");
}

async function digestOf(fs: FileSystemAccess, path: string, signal: AbortSignal): Promise<string> {
  try {
    return (await fs.digest(path, { algorithm: "sha256", maxBytes: COMPARED, signal })).digest;
  } catch (error) {
    signal.throwIfAborted();
    return errorCode(error) ?? "";
  }
}

function keep(found: Map<string, FileStatus>, status: FileStatus): void {
  if (status.type === "directory" || found.has(status.path)) return;
  found.set(status.path, status);
}

async function walk(
  fs: FileSystemAccess,
  folder: string,
  exclude: readonly string[],
  context: Context,
  take: (status: FileStatus) => unknown,
): Promise<void> {
  await attempt(context, async () => {
    const options = { signal: context.signal, exclude, maxEntries: LOOKED_AT };
    for await (const batch of fs.walk(folder, options)) for (const status of batch) take(status);
  });
}

/** What is not there is silent; what keeps a part from being read is told; anything else ends the crawl. */
async function attempt({ problem }: Context, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (errorCode(error) !== "TRAWLER_UNSUPPORTED") problem(partProblem(error), errorMessage(error));
  }
}

/** Globs by the folder that all they can name is below. */
function byFolder(globs: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  for (const pattern of globs) {
    const names = pattern.split("/");
    const folder = names.slice(0, names.findIndex(isGlob)).join("/") || "/";
    folders.set(folder, [...(folders.get(folder) ?? []), pattern]);
  }
  return folders;
}

function isGlob(path: string): boolean {
  return /[*?]/.test(path);
}

function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : "";
}
