import { constants, type Stats } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { errorCode } from "@trawler/plugin-api";
import { type Compression, exists, mend } from "./compression.ts";

export interface RotationOptions {
  readonly path: string;
  /** Bytes; a single line may be larger and then has a file of its own. */
  readonly maxSize: number;
  /** Old files kept beside the current one: `path.1` is the newest. */
  readonly maxFiles: number;
  /** Compresses old files to `path.1.gz` and so on; absent = they stay as they are. */
  readonly compression?: Compression;
}

const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
const LINE_END = 0x0a;

interface Current {
  readonly handle: FileHandle;
  readonly inode: number;
  size: number;
}

/**
 * Appends whole lines to a file and starts a new one at its size limit. Follows a file that someone else moved or
 * deleted. A failed append leaves no half line behind. Calls must not overlap. Throws Node's own errors.
 */
export class RotatingFile {
  readonly #options: RotationOptions;
  #current: Current | null = null;

  constructor(options: RotationOptions) {
    this.#options = options;
  }

  /** Opens (and creates) the file; refuses what is not a regular file. */
  async open(): Promise<void> {
    await this.#file();
    const { path, maxFiles, compression } = this.#options;
    if (compression === undefined) return;
    for (let index = 1; index <= maxFiles; index++) await mend(`${path}.${index}`);
    if (await exists(`${path}.1`)) compression.start(`${path}.1`);
  }

  /** Bytes that fit before a new file is started. */
  get room(): number {
    return Math.max(0, this.#options.maxSize - (this.#current?.size ?? 0));
  }

  /** `lines` end with a line end. Resolves once the kernel has them, with `sync` once the disk has them. */
  async append(lines: Uint8Array, sync: boolean): Promise<void> {
    let current = await this.#file();
    if (current.size > 0 && lines.length > this.room) {
      await this.#rotate();
      current = await this.#file();
    }
    try {
      await current.handle.writeFile(lines);
      if (sync) await current.handle.datasync();
      current.size += lines.length;
    } catch (error) {
      // What was written of it is no line. Where even this fails, opening it again mends the end.
      await current.handle.truncate(current.size).catch(() => this.close());
      throw error;
    }
  }

  /** Closes the file; a later append opens it again. */
  async close(): Promise<void> {
    const handle = this.#current?.handle;
    this.#current = null;
    await handle?.close();
  }

  async #file(): Promise<Current> {
    if (this.#current !== null && (await this.#inode()) !== this.#current.inode) await this.close();
    this.#current ??= await this.#open();
    return this.#current;
  }

  async #open(): Promise<Current> {
    const { path } = this.#options;
    // Without O_NONBLOCK a FIFO in its place would hold a thread for ever.
    const handle = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
    try {
      const found = await handle.stat();
      if (!found.isFile()) throw new Error(`${path} is not a regular file`);
      return { handle, inode: found.ino, size: await mendEnd(handle, found) };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #inode(): Promise<number | null> {
    try {
      return (await stat(this.#options.path)).ino;
    } catch (error) {
      if (errorCode(error) === "ENOENT") return null;
      throw error;
    }
  }

  async #rotate(): Promise<void> {
    const { path, maxFiles, compression } = this.#options;
    await this.close();
    if (maxFiles === 0) return rm(path, { force: true });
    await compression?.settled();
    // Those of before the setting was changed are moved along, too.
    for (const ending of ["", ".gz"]) {
      await rm(`${path}.${maxFiles}${ending}`, { force: true });
      for (let index = maxFiles - 1; index >= 1; index--) {
        await renameIfThere(`${path}.${index}${ending}`, `${path}.${index + 1}${ending}`);
      }
    }
    await renameIfThere(path, `${path}.1`);
    compression?.start(`${path}.1`);
  }
}

/** A crash may have left half a line: ends it, so that the next line stands alone. Answers the size. */
async function mendEnd(handle: FileHandle, { size }: Stats): Promise<number> {
  if (size === 0) return 0;
  const last = new Uint8Array(1);
  await handle.read(last, 0, 1, size - 1);
  if (last[0] === LINE_END) return size;
  await handle.writeFile(Uint8Array.of(LINE_END));
  return size + 1;
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}
