import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

/**
 * Compresses old files, one at a time, beside the appends. `path` is there whole until `path.gz` is: an interrupted one
 * leaves a part that `mend` throws away. Memory is that of one stream.
 */
export class Compression {
  readonly #failed: (error: unknown) => void;
  readonly #stop: AbortController = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** `failed` is told why a file stays as it is. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Begins with `path`; a call must wait for `settled` of the one before. */
  start(path: string): void {
    this.#running = compress(path, this.#stop.signal).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#failed(error);
    });
  }

  /** Resolves once nothing is being compressed. */
  settled(): Promise<void> {
    return this.#running;
  }

  /** Gives up what is not finished; its file stays as it was. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** What a crash left: the part of a file is thrown away; of a file that is there twice the compressed one is whole. */
export async function mend(path: string): Promise<void> {
  await rm(`${path}.gz.part`, { force: true });
  if (await exists(`${path}.gz`)) await rm(path, { force: true });
}

async function compress(path: string, signal: AbortSignal): Promise<void> {
  const part = `${path}.gz.part`;
  try {
    const source = createReadStream(path);
    // On the disk before the file that it stands for is removed.
    const target = createWriteStream(part, { flags: "wx", mode: 0o600, flush: true });
    await pipeline(source, createGzip(), target, { signal });
    await rename(part, `${path}.gz`);
    await rm(path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
