export interface ReadOptions {
  readonly signal?: AbortSignal;
}

export type FileType = "file" | "directory" | "symlink" | "fifo" | "socket" | "character" | "block" | "unknown";

/** Paths are absolute inside the member; bytes that are no UTF-8 stand as `\xNN`, a backslash as `\x5C`: lossless both ways. */
export interface FileEntry {
  readonly path: string;
  readonly type: FileType;
}

export interface FileStatus extends FileEntry {
  /** Bytes. */
  readonly size: number;
  /** Permission bits, without the type. */
  readonly mode: number;
  /** As the member sees it, through the maps of its user namespace; 65534 where they do not map it. */
  readonly userId: number;
  readonly groupId: number;
  /** As we see it: the same where the member has no user namespace of its own. */
  readonly hostUserId: number;
  readonly hostGroupId: number;
  /** Content. RFC 3339. */
  readonly modified: string;
  /** Content or status (owner, mode, links): no program can set it back. RFC 3339. */
  readonly changed: string;
  /** RFC 3339; may be coarse, or never written. */
  readonly accessed: string;
  /** The text of a symbolic link, as it stands. */
  readonly link: string | null;
}

export interface FileContent {
  readonly bytes: Uint8Array;
  /** The file's size as the kernel gives it. */
  readonly size: number;
  /** More bytes exist than the cap allowed. */
  readonly truncated: boolean;
}

export type DigestAlgorithm = "sha256" | "md5";

export interface FileDigest {
  /** Of the bytes that were read, lower-case hexadecimal. */
  readonly digest: string;
  /** The file's size as the kernel gives it. */
  readonly size: number;
  /** More bytes exist than the cap allowed: the digest is that of a beginning. */
  readonly truncated: boolean;
}

/** One mount of the member, as the kernel lists it; bytes and inodes are null where the file system may not be asked. */
export interface FileSystemStatus {
  /** What is mounted, such as `/dev/sda1` or `tmpfs`. */
  readonly device: string;
  readonly mountPoint: string;
  readonly type: string;
  readonly options: readonly string[];
  readonly size: number | null;
  readonly used: number | null;
  /** Including what is reserved for root. */
  readonly free: number | null;
  /** For others than root. */
  readonly available: number | null;
  readonly inodes: number | null;
  readonly inodesFree: number | null;
}

export interface FileSystemsOptions extends ReadOptions {
  /** Mount points to leave out, as globs like those of a walk. */
  readonly exclude?: readonly string[];
  /** Types of file systems to leave out. */
  readonly excludeTypes?: readonly string[];
}

export interface WalkOptions extends ReadOptions {
  /**
   * Paths to leave out with all below, as globs on the whole path: `*` and `?` stay within a name, `**` as a name of its
   * own stands for any number of names.
   */
  readonly exclude?: readonly string[];
  /** Default 100,000. */
  readonly maxEntries?: number;
  /** Default 64. */
  readonly maxDepth?: number;
}

/**
 * Read-only view of one member's files. Resolution never leaves the member's root; only regular files are opened.
 * Errors: TRAWLER_UNSUPPORTED (absent), TRAWLER_DENIED, TRAWLER_REFUSED (not a regular file, foreign file system),
 * TRAWLER_GONE (the member has ended), TRAWLER_LIMIT.
 */
export interface FileSystemAccess {
  /** From `offset` (default 0); default cap 1 MiB. */
  read(
    path: string,
    options?: ReadOptions & { readonly offset?: number; readonly maxBytes?: number },
  ): Promise<FileContent>;
  /** As `read`, decoded as UTF-8 (invalid bytes become U+FFFD); throws TRAWLER_LIMIT beyond `maxBytes`. */
  readText(path: string, options?: ReadOptions & { readonly maxBytes?: number }): Promise<string>;
  stat(path: string, options?: ReadOptions): Promise<FileStatus>;
  /** Entries of one folder, sorted by path, at most `maxEntries` (default 10,000). */
  list(
    path: string,
    options?: ReadOptions & { readonly maxEntries?: number },
  ): Promise<{
    readonly entries: readonly FileEntry[];
    readonly truncated: boolean;
  }>;
  /** All files below a folder, depth first, in batches; stays on one file system; capped in entries and depth. */
  walk(path: string, options?: WalkOptions): AsyncIterable<readonly FileStatus[]>;
  /** Digest of a regular file's bytes, computed as they are read; default cap 256 MiB. */
  digest(
    path: string,
    options: ReadOptions & { readonly algorithm: DigestAlgorithm; readonly maxBytes?: number },
  ): Promise<FileDigest>;
  /** Mounts in the kernel's order, at most 1,000. Those of the network and of user space are listed, never asked. */
  fileSystems(options?: FileSystemsOptions): Promise<{
    readonly fileSystems: readonly FileSystemStatus[];
    readonly truncated: boolean;
  }>;
}
