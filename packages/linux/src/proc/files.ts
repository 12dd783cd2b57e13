import { closeSync, open, opendirSync, openSync, read, readFileSync, readlinkSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorCode } from "@trawler/plugin-api";

const DEFAULT_MAX_BYTES = 64 * 1024;
/** Control groups of which a read may hang at the same time: half of libuv's pool of four, which every other file access shares. */
const MAX_HANGING = 2;
const READ_TIMEOUT = 1000;
const CHUNK_BYTES = 16 * 1024;
/** The kernel answers a long file by pages, each as full as its lines allow; a shorter answer is the last. */
const LAST_BYTES = 2048;
const openFile = promisify(open);
const readFile = promisify(read);

export interface SlowOptions {
  readonly maxBytes?: number;
  /** Milliseconds. */
  readonly timeout?: number;
  /** Lines may be longer than half a page: only an empty answer is the end. */
  readonly longLines?: boolean;
  readonly signal?: AbortSignal;
}

/** Reads below one `/proc`. Errors are Node's own, with `code` (`ENOENT`, `ESRCH`, `EACCES` …). */
export interface ProcFiles {
  readonly root: string;
  /** For files that the kernel answers at once. */
  text(path: string, maxBytes?: number): string;
  /** For files that may be long, and that wait for nobody: null after `timeout`, a second. */
  longText(path: string, options?: SlowOptions): Promise<string | null>;
  /**
   * For files of a process that may hang (`cmdline`, `environ`, `maps` wait for a lock of the process): null after `timeout`, a
   * second, and at once for its container while another of its reads hangs.
   */
  slowText(path: string, options?: SlowOptions): Promise<string | null>;
  link(path: string): string;
  /** Names in a folder, at most `max`, in the kernel's order. */
  names(path: string, max: number): readonly string[];
  /** Size of a folder as the kernel gives it: for `/proc/PID/fd` the open descriptors, since Linux 6.2. */
  size(path: string): number;
}

export class ProcFileReader implements ProcFiles {
  readonly root: string;
  #buffer = Buffer.allocUnsafe(DEFAULT_MAX_BYTES);
  /** The control group of each read that hangs. */
  readonly #hanging: string[] = [];

  constructor(root: string) {
    this.root = root;
  }

  text(path: string, maxBytes: number = DEFAULT_MAX_BYTES): string {
    // One call into Node instead of four, for files whose length the kernel bounds.
    if (maxBytes === DEFAULT_MAX_BYTES) return clip(readFileSync(`${this.root}/${path}`, "utf8"), maxBytes);
    if (maxBytes > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(maxBytes);
    const descriptor = openSync(join(this.root, path), "r");
    try {
      let length = 0;
      while (length < maxBytes) {
        const count = readSync(descriptor, this.#buffer, length, maxBytes - length, null);
        if (count === 0) break;
        length += count;
      }
      return this.#buffer.toString("utf8", 0, length);
    } finally {
      closeSync(descriptor);
    }
  }

  longText(path: string, options: SlowOptions = {}): Promise<string | null> {
    return this.#withDeadline(path, options, () => undefined);
  }

  async slowText(path: string, options: SlowOptions = {}): Promise<string | null> {
    options.signal?.throwIfAborted();
    if (this.#hanging.length >= MAX_HANGING) return null;
    if (this.#hanging.length > 0 && this.#hanging.includes(this.#group(path))) return null;
    return this.#withDeadline(path, options, (reading) => {
      const group = this.#group(path);
      this.#hanging.push(group);
      const returned = (): void => void this.#hanging.splice(this.#hanging.indexOf(group), 1);
      reading.then(returned, returned);
    });
  }

  async #withDeadline(
    path: string,
    { maxBytes = DEFAULT_MAX_BYTES, timeout = READ_TIMEOUT, longLines = false, signal }: SlowOptions,
    late: (reading: Promise<string>) => void,
  ): Promise<string | null> {
    signal?.throwIfAborted();
    let timer: NodeJS.Timeout | undefined;
    const reading = readBounded(join(this.root, path), maxBytes, longLines ? 1 : LAST_BYTES);
    const deadline = new Promise<null>((resolve) => {
      timer = setTimeout(() => {
        reading.catch(() => undefined);
        late(reading);
        resolve(null);
      }, timeout);
    });
    try {
      return await Promise.race([reading, deadline]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whose file it is: what hangs in one container must cost no other one. */
  #group(path: string): string {
    return orNull(() => this.text(`${path.slice(0, path.indexOf("/"))}/cgroup`)) ?? path;
  }

  link(path: string): string {
    return readlinkSync(join(this.root, path));
  }

  names(path: string, max: number): readonly string[] {
    const folder = opendirSync(join(this.root, path));
    try {
      const names: string[] = [];
      for (let entry = folder.readSync(); entry !== null && names.length < max; entry = folder.readSync()) {
        names.push(entry.name);
      }
      return names;
    } finally {
      folder.closeSync();
    }
  }

  size(path: string): number {
    return statSync(join(this.root, path)).size;
  }
}

/** Without a file handle's promises, which double the cost. Opening is asynchronous as well, as that may hang too. */
async function readBounded(path: string, maxBytes: number, lastBytes: number): Promise<string> {
  const descriptor = await openFile(path, "r");
  try {
    const chunks: Buffer[] = [];
    for (let left = maxBytes; left > 0; ) {
      const buffer = Buffer.allocUnsafe(Math.min(left, CHUNK_BYTES));
      const { bytesRead } = await readFile(descriptor, buffer, 0, buffer.length, null);
      chunks.push(buffer.subarray(0, bytesRead));
      left -= bytesRead;
      if (bytesRead < lastBytes) break;
    }
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    closeSync(descriptor);
  }
}

function clip(text: string, max: number): string {
  return text.length > max ? text.slice(0, max) : text;
}

/** The process or its file has gone: ENOENT at opening, ESRCH at reading. */
export function isGone(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ESRCH";
}

/** Our rights do not reach. */
export function isDenied(error: unknown): boolean {
  const code = errorCode(error);
  return code === "EACCES" || code === "EPERM";
}

/** The result of a read that may be denied or miss: null then. Other errors pass. */
export function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isGone(error) || isDenied(error)) return null;
    throw error;
  }
}
