import { constants, openSync, realpathSync } from "node:fs";
import { posix } from "node:path";
import { errorCode, TrawlerError } from "@trawler/plugin-api";
import { loadLibc } from "../ffi/libc.ts";
import { closeQuietly, O_PATH } from "./descriptor.ts";
import { descriptorWalk } from "./descriptor-walk.ts";
import { mountsBelow, readMounts } from "./mount-table.ts";
import { type MountGuard, mountGuard, mountOf, readBounded } from "./mounts.ts";
import { hasOpenat2, openat2Resolver } from "./openat2.ts";
import { type Owners, parseOwners, SAME_OWNERS } from "./owners.ts";
import { isNodeRoot, ProcessFolder, type ProcessIdentity, processError } from "./pid.ts";
import type { Resolver } from "./resolver.ts";
import { RootedFileSystem } from "./rooted.ts";

export interface FileSystemOptions {
  readonly signal?: AbortSignal;
  /** Working time of one call, milliseconds; default 10,000, and six times that for a walk. */
  readonly timeout?: number;
  /** How paths are resolved; default: `openat2` where the kernel and the FFI have it, else `walk`. */
  readonly resolver?: "openat2" | "walk";
}

const OWN_MOUNTS = "/proc/self/mountinfo";
const DEFAULT_TIMEOUT = 10_000;
const MAX_ID_MAP = 64 * 1024;

/**
 * Opens the root of a running process, read-only and escape-proof, until disposed. The process is held by a descriptor,
 * so a pid that is used again is never read.
 * @throws TRAWLER_GONE (ended, or another process has the pid), TRAWLER_DENIED, TRAWLER_REFUSED (its root is the node's
 * own, as before a runtime has set a container up; or is on a file system that is not read), TRAWLER_PLATFORM.
 */
export async function openFileSystem(
  options: ProcessIdentity & FileSystemOptions & { readonly allowNodeRoot?: boolean },
): Promise<RootedFileSystem> {
  const { pid, procRoot } = options;
  await prepare(options);
  const folder = new ProcessFolder(options);
  let root = -1;
  try {
    root = openSync(`${folder.path}/root`, O_PATH | constants.O_DIRECTORY);
    if (!folder.alive()) throw new TrawlerError("TRAWLER_GONE", `process ${pid} has ended`);
    if (options.allowNodeRoot !== true && isNodeRoot(root, procRoot)) {
      throw new TrawlerError("TRAWLER_REFUSED", `process ${pid} has the node's own root`);
    }
    const guard = mountGuard([`${folder.path}/mountinfo`, OWN_MOUNTS]);
    const resolver = await chooseResolver(root, guard, options.resolver);
    return new RootedFileSystem({
      root,
      resolver,
      timeout: options.timeout ?? DEFAULT_TIMEOUT,
      alive: () => folder.alive(),
      mounts: () => readMounts(`${folder.path}/mountinfo`),
      owners: readOwners(folder.path),
      release: () => folder[Symbol.dispose](),
    });
  } catch (error) {
    if (root !== -1) closeQuietly(root);
    folder[Symbol.dispose]();
    throw processError(error, pid);
  }
}

/** The root of a process, or a folder below it, whose mounts are not ours. */
const PROCESS_ROOT = /^(.*\/\d+)\/root(\/.*)?$/;

/**
 * The same over a plain folder, such as the node's root as this process sees it (`/`, `/host`, `/proc/1/root`).
 * @throws TRAWLER_UNSUPPORTED where there is no such folder, else as {@link openFileSystem}.
 */
export async function openHostFileSystem(path: string, options: FileSystemOptions = {}): Promise<RootedFileSystem> {
  await prepare(options);
  let root = -1;
  try {
    root = openSync(path, O_PATH | constants.O_DIRECTORY);
    const [, holder, below = "/"] = PROCESS_ROOT.exec(path) ?? [];
    const mountinfo = holder === undefined ? OWN_MOUNTS : `${holder}/mountinfo`;
    const resolver = await chooseResolver(root, mountGuard([mountinfo]), options.resolver);
    return new RootedFileSystem({
      root,
      resolver,
      timeout: options.timeout ?? DEFAULT_TIMEOUT,
      alive: () => true,
      mounts: () =>
        holder === undefined
          ? mountsBelow(readMounts(OWN_MOUNTS), realpathSync(path, "latin1"), mountOf(root))
          : mountsBelow(
              readMounts(mountinfo),
              Buffer.from(posix.resolve("/", below)).toString("latin1"),
              mountOf(root),
            ),
      owners: SAME_OWNERS,
      release: () => undefined,
    });
  } catch (error) {
    if (root !== -1) closeQuietly(root);
    if (error instanceof TrawlerError) throw error;
    const denied = errorCode(error) === "EACCES" || errorCode(error) === "EPERM";
    throw new TrawlerError(denied ? "TRAWLER_DENIED" : "TRAWLER_UNSUPPORTED", `${path} cannot be opened as a folder`);
  }
}

/** A kernel without user namespaces has no such files. */
function readOwners(folder: string): Owners {
  try {
    return parseOwners(readBounded(`${folder}/uid_map`, MAX_ID_MAP), readBounded(`${folder}/gid_map`, MAX_ID_MAP));
  } catch {
    return SAME_OWNERS;
  }
}

async function prepare(options: FileSystemOptions): Promise<void> {
  if (process.platform !== "linux") throw new TrawlerError("TRAWLER_PLATFORM", "rooted file access takes Linux");
  await loadLibc();
  if (options.signal?.aborted === true) {
    throw new TrawlerError("TRAWLER_PLUGIN_TIMEOUT", "opening a file system was stopped at its deadline");
  }
}

async function chooseResolver(root: number, guard: MountGuard, wanted?: "openat2" | "walk"): Promise<Resolver> {
  const type = guard.refuse(mountOf(root));
  if (type !== null)
    throw new TrawlerError("TRAWLER_REFUSED", `the root is on a file system that is not read (${type})`);
  const walk = descriptorWalk(guard);
  if (wanted === "walk") return walk;
  const libc = await loadLibc();
  const probe = libc === null ? null : hasOpenat2(libc, root);
  if (probe !== null) closeQuietly(probe);
  if (libc !== null && probe !== null) return openat2Resolver(libc, walk);
  if (wanted === "openat2")
    throw new TrawlerError("TRAWLER_PLATFORM", "this kernel or its seccomp profile has no openat2");
  return walk;
}
