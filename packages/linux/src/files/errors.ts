import { type ErrorCode, errorCode, TrawlerError } from "@trawler/plugin-api";
import { SystemError } from "../ffi/libc.ts";

const CODES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ["TRAWLER_UNSUPPORTED", "no such file"],
  ENOTDIR: ["TRAWLER_UNSUPPORTED", "not a folder"],
  EFTYPE: ["TRAWLER_REFUSED", "not a regular file"],
  ENOTSOCK: ["TRAWLER_REFUSED", "not a socket"],
  EXDEV: ["TRAWLER_REFUSED", "on a file system that is not read"],
  ELOOP: ["TRAWLER_REFUSED", "too many symbolic links"],
  EINVAL: ["TRAWLER_REFUSED", "not a valid path"],
  ENAMETOOLONG: ["TRAWLER_REFUSED", "the path is too long"],
  EACCES: ["TRAWLER_DENIED", "access denied"],
  EPERM: ["TRAWLER_DENIED", "access denied"],
  ESTALE: ["TRAWLER_GONE", "replaced while it was read"],
  ESRCH: ["TRAWLER_GONE", "the process has ended"],
  EBADF: ["TRAWLER_GONE", "access was closed"],
  EAGAIN: ["TRAWLER_RETRY", "changed too often while it was resolved"],
  EMFILE: ["TRAWLER_LIMIT", "the agent has too many open files"],
  ENFILE: ["TRAWLER_LIMIT", "the node has too many open files"],
  ENOMEM: ["TRAWLER_LIMIT", "the node is out of memory"],
};

/** A failure worded in the member's own path. The cause is left out: it would name paths of the node. */
export function fileError(error: unknown, path: string): TrawlerError {
  if (error instanceof TrawlerError) return error;
  const code = errorCode(error) ?? "EIO";
  const [ours, text] = CODES[code] ?? ["TRAWLER_PLUGIN_FAILED", `could not be read (${code})`];
  const detail = error instanceof SystemError && error.detail !== null ? ` (${error.detail})` : "";
  return new TrawlerError(ours, `${shown(path)}: ${text}${detail}`);
}

/** A path fit for a message: control characters escaped, at most 300 characters. */
export function shown(path: string): string {
  const text = path.length > 300 ? `${path.slice(0, 300)}…` : path;
  return text.replace(/\p{Cc}/gu, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

export function gone(path: string): TrawlerError {
  return new TrawlerError("TRAWLER_GONE", `${shown(path)}: the process has ended`);
}
