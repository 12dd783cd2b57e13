import { type Clock, errorCode, type FileStatus, type FileSystemAccess, pathMatcher } from "@trawler/plugin-api";

/** Digests of some two hundred bytes each. */
const MAX_KEPT = 50_000;
/** Milliseconds: within the grain of a file system's clock a file may change twice at one time. */
const YOUNG = 2000;

export interface DigestSettings {
  readonly digest: "none" | "sha256" | "md5";
  readonly digestPaths: readonly string[];
  readonly digestMaxBytes: number;
}

/**
 * Digests of files, read once: one whose size and time of change are the same has the same bytes, as no program can set
 * that time back. The oldest are forgotten where there are too many.
 */
export class DigestCache {
  readonly #clock: Pick<Clock, "now">;
  readonly #settings: DigestSettings;
  readonly #wanted: (path: string) => boolean;
  readonly #kept: Map<string, string> = new Map();

  constructor(settings: DigestSettings, clock: Pick<Clock, "now">) {
    this.#clock = clock;
    this.#settings = settings;
    this.#wanted = settings.digest === "none" ? () => false : pathMatcher(settings.digestPaths);
  }

  /** Null where there is none: not wanted, too large, gone or not readable. */
  async of(fs: FileSystemAccess, member: string, status: FileStatus, signal: AbortSignal): Promise<string | null> {
    const { digest: algorithm, digestMaxBytes: maxBytes } = this.#settings;
    const { path, type, size, changed } = status;
    if (algorithm === "none" || type !== "file" || size > maxBytes || !this.#wanted(path)) return null;
    const key = `${member}\n${path}\n${size}\n${changed}`;
    const known = this.#kept.get(key);
    // What was asked for last is forgotten last.
    this.#kept.delete(key);
    const digest = known ?? (await read(fs, path, { algorithm, maxBytes, signal }));
    if (digest === null || this.#clock.now() - Date.parse(changed) < YOUNG) return digest;
    this.#kept.set(key, digest);
    const [oldest] = this.#kept.size > MAX_KEPT ? this.#kept.keys() : [];
    if (oldest !== undefined) this.#kept.delete(oldest);
    return digest;
  }
}

async function read(
  fs: FileSystemAccess,
  path: string,
  options: { readonly algorithm: "sha256" | "md5"; readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<string | null> {
  try {
    const { digest, truncated } = await fs.digest(path, options);
    return truncated ? null : `${options.algorithm}:${digest}`;
  } catch (error) {
    options.signal.throwIfAborted();
    // A member that has ended fails the walk, too; a file alone costs its own digest.
    if (errorCode(error)?.startsWith("TRAWLER_") === true) return null;
    throw error;
  }
}
