import { createHash } from "node:crypto";
import {
  type CrawlContext,
  errorMessage,
  type FileStatus,
  type FileSystemAccess,
  fileReader,
  partProblem,
} from "@trawler/plugin-api";
import { type ArchiveContent, type ArchiveOptions, readArchive } from "./classes.ts";
import { Damaged } from "./zip.ts";

export interface Archive {
  /** `sha256:…` or `md5:…` of the file; null where it could not be read whole. */
  readonly digest: string | null;
  /** Classes in it; null where it is no archive, or could not be read. */
  readonly classes: number | null;
  /** Digests of the first classes; empty for one that is not known. */
  readonly classDigests: readonly string[];
  /** Names of archives inside it. */
  readonly archives: readonly string[];
  /** Over the digests of all classes; null where one is not known. */
  readonly classesDigest: string | null;
}

export const UNREAD: Archive = { digest: null, classes: null, classDigests: [], archives: [], classesDigest: null };

const MAX_ARCHIVES = 64;

export interface ReadArchiveOptions extends ArchiveOptions {
  readonly maxBytes: number;
  /** Most digests of classes that are kept. */
  readonly maxClasses: number;
  readonly problem: CrawlContext["problem"];
}

/** Reads one archive; what is wrong with it costs no other. */
export async function readFile(
  fs: FileSystemAccess,
  { path, size }: FileStatus,
  options: ReadArchiveOptions,
): Promise<Archive> {
  const { algorithm, maxBytes, maxClasses, problem, signal } = options;
  let digest: string | null = null;
  try {
    const found = await fs.digest(path, { algorithm, maxBytes, signal });
    if (!found.truncated) digest = `${algorithm}:${found.digest}`;
    // Read and unpacked once; a local header before each entry, a chunk of the file at each end.
    const content = await readArchive(fileReader(fs, path, { signal, maxBytes: 2 * maxBytes }), size, options);
    if (content.shortfall !== null) problem("truncated", `${path}: ${content.shortfall}`);
    return {
      digest,
      classes: content.classes.length,
      classDigests: content.classes.slice(0, maxClasses).map((one) => one ?? ""),
      archives: content.archives.slice(0, MAX_ARCHIVES),
      classesDigest: digestOf(algorithm, content),
    };
  } catch (error) {
    if (error instanceof Damaged) problem("failed", `${path}: ${error.message}`);
    else problem(partProblem(error), errorMessage(error));
    return { ...UNREAD, digest };
  }
}

function digestOf(algorithm: string, { classes, shortfall }: ArchiveContent): string | null {
  if (shortfall !== null) return null;
  const hash = createHash(algorithm);
  for (const digest of classes) hash.update(`${digest}\n`);
  return `${algorithm}:${hash.digest("hex")}`;
}
