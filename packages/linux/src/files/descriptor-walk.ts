import { constants, fstatSync, openSync, readlinkSync } from "node:fs";
import { errorCode } from "@trawler/plugin-api";
import { SystemError } from "../ffi/libc.ts";
import { closeQuietly, descriptorPath, O_PATH } from "./descriptor.ts";
import { type MountGuard, mountOf } from "./mounts.ts";
import { splitPath } from "./path.ts";
import { MAX_FOLDERS, MAX_LINKS, MAX_PATH_BYTES, type Resolver } from "./resolver.ts";

/**
 * Resolves in user space, one component at a time from a descriptor of its folder: the kernel follows no link for us,
 * `..` goes back along the descriptors that we hold, and each step is checked before anything of the file is asked.
 */
export function descriptorWalk(guard: MountGuard): Resolver {
  return {
    open: (root, path, follow) => walk(guard, root, path, follow),
    entries(folder) {
      const mount = mountOf(folder);
      return (name) => {
        const descriptor = openEntry(folder, name);
        try {
          if (mount === null || mount !== mountOf(descriptor)) throw new SystemError("EXDEV");
          return descriptor;
        } catch (error) {
          closeQuietly(descriptor);
          throw error;
        }
      };
    },
  };
}

interface Step {
  readonly descriptor: number;
  readonly mount: number | null;
}

function walk(guard: MountGuard, root: number, path: Buffer, follow: boolean): number {
  if (path.length > MAX_PATH_BYTES) throw new SystemError("ENAMETOOLONG");
  // The last of `pending` comes next; the last of `steps` is where we stand.
  const pending = splitPath(path).reverse();
  const steps: Step[] = [];
  const base: Step = { descriptor: root, mount: mountOf(root) };
  let links = 0;
  try {
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (isParent(name)) {
        closeStep(steps.pop());
        continue;
      }
      const here = steps.at(-1) ?? base;
      const step = enter(guard, here, name);
      steps.push(step);
      const stats = fstatSync(step.descriptor);
      if (stats.isSymbolicLink()) {
        if (pending.length === 0 && !follow) break;
        closeStep(steps.pop());
        links += 1;
        if (links > MAX_LINKS) throw new SystemError("ELOOP");
        const text = currentLink(here.descriptor, name);
        if (text === null) pending.push(name);
        else {
          if (text[0] === SLASH) for (const left of steps.splice(0)) closeStep(left);
          pending.push(...splitPath(text).reverse());
        }
      } else if (!stats.isDirectory() && pending.length > 0) {
        throw new SystemError("ENOTDIR");
      }
      if (steps.length > MAX_FOLDERS) throw new SystemError("ENAMETOOLONG");
    }
    return steps.pop()?.descriptor ?? openSync(`${descriptorPath(root)}/.`, O_PATH);
  } finally {
    for (const step of steps) closeStep(step);
  }
}

const SLASH = 0x2f;

/** The entry of a folder, checked to be on a mount that may be read, before any question that its owner could answer. */
function enter(guard: MountGuard, from: Step, name: Buffer): Step {
  const descriptor = openEntry(from.descriptor, name);
  try {
    const mount = mountOf(descriptor);
    if (mount === null || mount !== from.mount) {
      const type = guard.refuse(mount);
      if (type !== null) throw new SystemError("EXDEV", type);
    }
    return { descriptor, mount };
  } catch (error) {
    closeQuietly(descriptor);
    throw error;
  }
}

function openEntry(folder: number, name: Buffer): number {
  if (name.length > 255) throw new SystemError("ENAMETOOLONG");
  return openSync(entryPath(folder, name), O_PATH | constants.O_NOFOLLOW);
}

/** The text of a link. Were it swapped meanwhile, the text is another's, and is resolved inside the root all the same. */
export function linkText(folder: number, name: Buffer): Buffer {
  return readlinkSync(entryPath(folder, name), "buffer");
}

/** Null where it was swapped for what is no link: then it is looked at again, at the cost of one of the forty. */
function currentLink(folder: number, name: Buffer): Buffer | null {
  try {
    return linkText(folder, name);
  } catch (error) {
    if (errorCode(error) === "EINVAL") return null;
    throw error;
  }
}

function entryPath(folder: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${descriptorPath(folder)}/`), name]);
}

function isParent(name: Buffer): boolean {
  return name.length === 2 && name[0] === 0x2e && name[1] === 0x2e;
}

function closeStep(step: Step | undefined): void {
  if (step !== undefined) closeQuietly(step.descriptor);
}
