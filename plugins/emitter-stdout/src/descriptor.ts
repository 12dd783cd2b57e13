import { write } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "@trawler/plugin-api";

/**
 * Writes to a descriptor that others also use (standard output), off the main thread: a reader that has stopped holds
 * up this writer and nothing else. The descriptor may be blocking or not; it is never closed here.
 */
export class DescriptorWriter {
  readonly #descriptor: number;
  #pending: Promise<void> = Promise.resolve();

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /**
   * Resolves once all bytes are taken. When `signal` aborts it rejects with the signal's reason; a piece that the
   * kernel has begun on goes on alone, and the next call waits for it, so that lines never mix.
   */
  async write(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    await untilAborted(
      this.#pending.catch(() => undefined),
      signal,
    );
    signal.throwIfAborted();
    this.#pending = this.#writeAll(bytes);
    await untilAborted(this.#pending, signal);
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    let offset = 0;
    while (offset < bytes.length) {
      try {
        offset += await writeSome(this.#descriptor, bytes, offset);
      } catch (error) {
        // The descriptor is non-blocking and full: the terminal or pipe sets no other sign than trying again.
        if (errorCode(error) !== "EAGAIN") throw error;
        await delay(10, undefined, { ref: false });
      }
    }
  }
}

function writeSome(descriptor: number, bytes: Uint8Array, offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, offset, bytes.length - offset, null, (error, written) => {
      if (error) reject(error);
      else resolve(written);
    });
  });
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
