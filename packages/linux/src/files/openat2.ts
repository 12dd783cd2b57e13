import { constants } from "node:fs";
import { errnoName, type Libc, SystemError } from "../ffi/libc.ts";
import { O_PATH } from "./descriptor.ts";
import { MAX_PATH_BYTES, type Resolver } from "./resolver.ts";

const RESOLVE_NO_XDEV = 0x01;
const RESOLVE_NO_MAGICLINKS = 0x02;
const RESOLVE_NO_SYMLINKS = 0x04;
const RESOLVE_BENEATH = 0x08;
const RESOLVE_IN_ROOT = 0x10;

const IN_ROOT = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
const ONE_ENTRY = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
/** Any rename or mount on the node while `..` is resolved gives EAGAIN: normal, and soon over. */
const MAX_TRIES = 64;

/**
 * Lets the kernel resolve inside the root, in one call. It stays on the root's mount: a path that crosses to another
 * one (a volume, a bound file) goes to `crossing`, which checks each mount before it steps onto it.
 */
export function openat2Resolver(libc: Libc, crossing: Resolver): Resolver {
  return {
    open(root, path, follow) {
      if (path.length > MAX_PATH_BYTES) throw new SystemError("ENAMETOOLONG");
      const name = path.length === 0 ? HERE : path;
      const flags = follow ? O_PATH : O_PATH | constants.O_NOFOLLOW;
      const result = attempt(libc, root, name, flags, IN_ROOT);
      if (result >= 0) return result;
      const code = errnoName(result);
      if (code === "EXDEV" || code === "EAGAIN") return crossing.open(root, path, follow);
      throw new SystemError(code);
    },
    entries(folder) {
      return (name) => {
        const result = attempt(libc, folder, name, O_PATH | constants.O_NOFOLLOW, ONE_ENTRY);
        if (result >= 0) return result;
        const code = errnoName(result);
        if (code === "EAGAIN") return crossing.entries(folder)(name);
        throw new SystemError(code);
      };
    },
  };
}

/** Whether openat2 works here: it is absent before Linux 5.6, and a seccomp profile may refuse it. */
export function hasOpenat2(libc: Libc, root: number): number | null {
  const result = libc.openat2(root, HERE, O_PATH, IN_ROOT);
  return result < 0 ? null : result;
}

const HERE = Buffer.from(".");

function attempt(libc: Libc, folder: number, path: Buffer, flags: number, resolve: number): number {
  let result = -1;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    result = libc.openat2(folder, path, flags, resolve);
    if (result >= 0 || errnoName(result) !== "EAGAIN") break;
  }
  return result;
}
