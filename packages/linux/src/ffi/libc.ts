import { constants } from "node:os";

/** The few system calls that Node lacks. Each returns its result, or the negated errno: nothing here throws. */
export interface Libc {
  /** openat2(2): a close-on-exec descriptor. `path` is without its end mark; `resolve` holds RESOLVE_ flags. */
  openat2(directory: number, path: Uint8Array, flags: number, resolve: number): number;
  /** getxattr(2): the bytes that were put into `value`. */
  getxattr(path: string, name: string, value: Uint8Array): number;
  /** setns(2) of the calling thread. */
  setns(descriptor: number, type: number): number;
  /** socket(2). */
  socket(domain: number, type: number, protocol: number): number;
  /** madvise(2) with MADV_DONTNEED. */
  dontNeed(address: number, length: number): number;
  /** malloc_trim(3), which glibc has alone; elsewhere nothing happens. */
  trim(): void;
}

/** The same number on every architecture: openat2 came after the tables were made one. */
const SYS_OPENAT2 = 437;
const HOW_SIZE = 24;
const O_CLOEXEC = 0o2000000;

let loaded: Promise<Libc | null> | undefined;

/** Binds the calls on first use, once per thread; null where the binding cannot be loaded. */
export function loadLibc(): Promise<Libc | null> {
  loaded ??= bind().catch(() => null);
  return loaded;
}

async function bind(): Promise<Libc | null> {
  if (process.platform !== "linux") return null;
  const { default: koffi } = await import("koffi");
  const library = koffi.load(null);
  const syscall: (...values: readonly unknown[]) => number = library.func("syscall", "long", [
    "long",
    "int",
    "void *",
    "void *",
    "size_t",
  ]);
  const setns: (descriptor: number, type: number) => number = library.func("setns", "int", ["int", "int"]);
  const socket: (domain: number, type: number, protocol: number) => number = library.func("socket", "int", [
    "int",
    "int",
    "int",
  ]);
  const madvise: (address: number, length: number, advice: number) => number = library.func("madvise", "int", [
    "uintptr_t",
    "size_t",
    "int",
  ]);
  const getxattr: (path: string, name: string, value: Uint8Array, size: number) => number = library.func(
    "getxattr",
    "long",
    ["str", "str", "void *", "size_t"],
  );
  const result = (value: number): number => (value < 0 ? -koffi.errno() : value);
  const how = Buffer.alloc(HOW_SIZE);
  return {
    openat2(directory, path, flags, resolve) {
      how.writeBigUInt64LE(BigInt(flags | O_CLOEXEC), 0);
      how.writeBigUInt64LE(BigInt(resolve), 16);
      return result(syscall(SYS_OPENAT2, directory, Buffer.concat([path, END]), how, HOW_SIZE));
    },
    getxattr: (path, name, value) => result(getxattr(path, name, value, value.length)),
    setns: (descriptor, type) => result(setns(descriptor, type)),
    socket: (domain, type, protocol) => result(socket(domain, type | SOCK_CLOEXEC, protocol)),
    dontNeed: (address, length) => result(madvise(address, length, MADV_DONTNEED)),
    trim: () => {
      try {
        library.func("malloc_trim", "int", ["size_t"])(0);
      } catch {
        // Another C library has none.
      }
    },
  };
}

const END = Buffer.alloc(1);
const SOCK_CLOEXEC = 0o2000000;
const MADV_DONTNEED = 4;

/** Reversed, as of two names for one number the first stands: EAGAIN, not EWOULDBLOCK. */
const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/** `ENOENT` for 2 (or −2); `E<number>` for one that Node does not name. */
export function errnoName(number: number): string {
  const positive = Math.abs(number);
  return NAMES.get(positive) ?? `E${positive}`;
}

/** A failed system call, coded as Node codes its own. Stays inside this package. */
export class SystemError extends Error {
  readonly code: string;
  /** The type of the file system, for EXDEV. */
  readonly detail: string | null;

  constructor(code: string, detail: string | null = null) {
    super(code);
    this.name = "SystemError";
    this.code = code;
    this.detail = detail;
  }
}
