import { createHash } from "node:crypto";
import { lstat, open, readdir, readlink, realpath } from "node:fs/promises";
import { join, posix, relative } from "node:path";
import {
  type ErrorCode,
  errorCode,
  type FileStatus,
  type FileSystemAccess,
  type FileType,
  pathMatcher,
  TrawlerError,
} from "@trawler/plugin-api";

const MEBIBYTE = 1_048_576;

/** A folder as a member's root. For tests only: it is not hardened; times and owners are those of the folder. */
export function folderFs(root: string): FileSystemAccess {
  const inside = async (path: string): Promise<string> => {
    const real = await realpath(join(root, posix.resolve("/", path)));
    if (relative(await realpath(root), real).startsWith("..")) throw refused(path, "leads out of the root");
    return real;
  };
  const read: FileSystemAccess["read"] = (path, options) =>
    coded(path, async () => {
      options?.signal?.throwIfAborted();
      const file = await open(await inside(path));
      try {
        const { size } = await file.stat().then((stat) => {
          if (!stat.isFile()) throw refused(path, "is no regular file");
          return stat;
        });
        const offset = options?.offset ?? 0;
        const buffer = new Uint8Array(Math.min(Math.max(size - offset, 0), options?.maxBytes ?? MEBIBYTE));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
        return { bytes: buffer.subarray(0, bytesRead), size, truncated: size > offset + bytesRead };
      } finally {
        await file.close();
      }
    });
  const stat: FileSystemAccess["stat"] = (path) => coded(path, () => statusOf(root, posix.resolve("/", path)));
  return {
    read,
    stat,
    async readText(path, options) {
      const { bytes, truncated } = await read(path, options);
      if (truncated) throw new TrawlerError("TRAWLER_LIMIT", `${path} is larger than the limit`);
      return new TextDecoder().decode(bytes);
    },
    list: (path, options) =>
      coded(path, async () => {
        const found = await readdir(await inside(path), { withFileTypes: true });
        const entries = found.map((entry) => ({ path: posix.join(path, entry.name), type: typeOf(entry) }));
        entries.sort((a, b) => (a.path < b.path ? -1 : 1));
        const max = options?.maxEntries ?? 10_000;
        return { entries: entries.slice(0, max), truncated: entries.length > max };
      }),
    async digest(path, { algorithm, maxBytes = 268_435_456, ...options }) {
      const { bytes, size, truncated } = await read(path, { ...options, maxBytes });
      return { digest: createHash(algorithm).update(bytes).digest("hex"), size, truncated };
    },
    fileSystems: async () => {
      throw new TrawlerError("TRAWLER_UNSUPPORTED", "a folder has no list of file systems");
    },
    async *walk(path, options) {
      const { maxDepth = 64, signal } = options ?? {};
      const excluded = pathMatcher(options?.exclude ?? []);
      let left = options?.maxEntries ?? 100_000;
      const folders = [{ path: posix.resolve("/", path), depth: 0 }];
      for (let folder = folders.pop(); folder && left > 0; folder = folders.pop()) {
        signal?.throwIfAborted();
        const { path: at, depth } = folder;
        const names = await coded(at, async () => (await readdir(join(root, at))).sort());
        const paths = names.map((name) => posix.join(at, name)).filter((one) => !excluded(one));
        const batch = await Promise.all(paths.slice(0, left).map((one) => stat(one)));
        left -= batch.length;
        yield batch;
        const below = batch.filter(({ type }) => type === "directory" && depth < maxDepth).reverse();
        folders.push(...below.map((entry) => ({ path: entry.path, depth: depth + 1 })));
      }
    },
  };
}

async function statusOf(root: string, path: string): Promise<FileStatus> {
  const found = await lstat(join(root, path));
  return {
    path,
    type: typeOf(found),
    size: found.size,
    mode: found.mode & 0o7777,
    userId: found.uid,
    groupId: found.gid,
    hostUserId: found.uid,
    hostGroupId: found.gid,
    modified: found.mtime.toISOString(),
    changed: found.ctime.toISOString(),
    accessed: found.atime.toISOString(),
    link: found.isSymbolicLink() ? await readlink(join(root, path)) : null,
  };
}

interface Typed {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function typeOf(entry: Typed): FileType {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "symlink" : "unknown";
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOENT: "TRAWLER_UNSUPPORTED",
  ENOTDIR: "TRAWLER_UNSUPPORTED",
  EACCES: "TRAWLER_DENIED",
  EPERM: "TRAWLER_DENIED",
  ELOOP: "TRAWLER_REFUSED",
  EISDIR: "TRAWLER_REFUSED",
};

/** Errors are worded in the target's paths, never in the host's. */
async function coded<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code = errorCode(cause) ?? "";
    if (code.startsWith("TRAWLER_") || code === "ABORT_ERR") throw cause;
    throw new TrawlerError(CODES[code] ?? "TRAWLER_PLUGIN_FAILED", `${path}: ${code || "not readable"}`, { cause });
  }
}

function refused(path: string, why: string): TrawlerError {
  return new TrawlerError("TRAWLER_REFUSED", `${path} ${why}`);
}
