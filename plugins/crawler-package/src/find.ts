import { posix } from "node:path";
import {
  errorCode,
  type FileStatus,
  type FileSystemAccess,
  type ReadOptions,
  statFingerprint,
  TrawlerError,
} from "@trawler/plugin-api";

export type Manager = "dpkg" | "apk" | "rpm";
type Format = "dpkg-status" | "dpkg-status.d" | "apk-installed" | "rpm-sqlite" | "rpm-ndb" | "rpm-berkeley";

/** A package database that is there. */
export interface Database {
  readonly manager: Manager;
  readonly format: Format;
  readonly path: string;
  /** Everything that its content depends on, the path itself first. */
  readonly files: readonly FileStatus[];
}

interface Place {
  readonly manager: Manager;
  readonly format: Format;
  readonly path: string;
  /** Looked for first where several places share it: most targets do not have it. */
  readonly folder?: string;
}

const place = (manager: Manager, format: Format, path: string): Place => ({ manager, format, path });
const inFolder = (folder: string, format: Format, name: string): Place => {
  return { ...place("rpm", format, `${folder}/${name}`), folder };
};

/** Of each list the first one that is there: a distribution that moves its database leaves a link, and old ones stay. */
const PLACES: readonly (readonly Place[])[] = [
  [place("dpkg", "dpkg-status", "/var/lib/dpkg/status")],
  // Images without dpkg itself (distroless) have a file for each package.
  [place("dpkg", "dpkg-status.d", "/var/lib/dpkg/status.d")],
  ["/lib", "/usr/lib"].map((folder) => place("apk", "apk-installed", `${folder}/apk/db/installed`)),
  ["/usr/lib/sysimage/rpm", "/var/lib/rpm", "/usr/share/rpm"].flatMap((folder) => [
    inFolder(folder, "rpm-sqlite", "rpmdb.sqlite"),
    inFolder(folder, "rpm-ndb", "Packages.db"),
    inFolder(folder, "rpm-berkeley", "Packages"),
  ]),
];

/** Which databases there are, by their names alone. What cannot be looked at is told to `failed`. */
export async function findDatabases(
  fs: FileSystemAccess,
  options: ReadOptions,
  failed: (error: unknown) => void,
): Promise<readonly Database[]> {
  const found: Database[] = [];
  const folders = new Map<string, boolean>();
  const lacks = async (folder: string | undefined): Promise<boolean> => {
    if (folder === undefined) return false;
    // A link is followed with the file behind it.
    const there = folders.get(folder) ?? (await isThere(fs, folder, options));
    folders.set(folder, there);
    return !there;
  };
  for (const places of PLACES) {
    for (const { folder, ...one } of places) {
      try {
        if (await lacks(folder)) continue;
        const files = await filesOf(fs, one, options);
        if (files === null) continue;
        found.push({ ...one, files });
        break;
      } catch (error) {
        failed(error);
      }
    }
  }
  return found;
}

/** Changes with the databases' content: size and times of all that they consist of. */
export function fingerprint(databases: readonly Database[]): string {
  return statFingerprint(databases.flatMap(({ files }) => files));
}

async function filesOf(fs: FileSystemAccess, { format, path }: Place, options: ReadOptions) {
  const status = await statOf(fs, path, options);
  if (status === null) return null;
  const wanted = format === "dpkg-status.d" ? "directory" : "file";
  if (status.type !== wanted) throw new TrawlerError("TRAWLER_REFUSED", `${path}: is of type ${status.type}`);
  if (format === "rpm-sqlite") {
    const log = await statOf(fs, `${path}-wal`, options);
    return log === null || log.size === 0 ? [status] : [status, log];
  }
  return format === "dpkg-status.d" ? [status, ...(await filesIn(fs, path, options))] : [status];
}

/** As few as an image has packages; a folder inside would be none of dpkg's. */
async function filesIn(fs: FileSystemAccess, folder: string, options: ReadOptions): Promise<readonly FileStatus[]> {
  const found: FileStatus[] = [];
  try {
    for await (const batch of fs.walk(folder, { ...options, maxDepth: 1, maxEntries: MAX_FILES })) {
      found.push(...batch.filter(({ type, path }) => type === "file" && !path.endsWith(".md5sums")));
    }
  } catch (error) {
    if (errorCode(error) !== "TRAWLER_LIMIT" && errorCode(error) !== "TRAWLER_DENIED") throw error;
  }
  return found;
}

const MAX_FILES = 10_000;
const MAX_LINKS = 8;

async function isThere(fs: FileSystemAccess, path: string, options: ReadOptions): Promise<boolean> {
  try {
    await fs.stat(path, options);
    return true;
  } catch (error) {
    if (errorCode(error) === "TRAWLER_UNSUPPORTED") return false;
    throw error;
  }
}

/** What a path names in the end, under that name; null where there is nothing. */
async function statOf(fs: FileSystemAccess, path: string, options: ReadOptions): Promise<FileStatus | null> {
  try {
    let status = await fs.stat(path, options);
    for (let links = 0; status.link !== null; links++) {
      if (links === MAX_LINKS) throw new TrawlerError("TRAWLER_REFUSED", `${path}: too many links`);
      // As the kernel reads it: what stands before the link may itself lead elsewhere.
      const { link } = status;
      status = await fs.stat(link.startsWith("/") ? link : `${posix.dirname(status.path)}/${link}`, options);
    }
    return { ...status, path };
  } catch (error) {
    if (errorCode(error) === "TRAWLER_UNSUPPORTED") return null;
    throw error;
  }
}
