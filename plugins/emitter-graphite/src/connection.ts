import { connect, type Socket } from "node:net";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";

export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  /** Milliseconds that connecting or one write may take. */
  readonly timeout: number;
}

/**
 * One connection to a plaintext receiver, made on first use and anew after any failure. The protocol has no answer: a
 * write is done once the system has taken all bytes, and a connection that the receiver has closed is found at the next.
 */
export class Connection implements AsyncDisposable {
  readonly #options: ConnectionOptions;
  #socket: Socket | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Throws TRAWLER_UNAVAILABLE, or the signal's reason. */
  async send(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const { host, port, timeout } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = (): void => reject(signal.reason);
    const late = setTimeout(() => reject(new Error(`took nothing for ${timeout} ms`)), timeout);
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      this.#open(reject).write(bytes, (error) => (error ? reject(error) : resolve()));
      await promise;
    } catch (cause) {
      this.#close();
      signal.throwIfAborted();
      throw new TrawlerError("TRAWLER_UNAVAILABLE", `${host}:${port}: ${errorMessage(cause)}`, { cause });
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", abort);
      this.#socket?.removeAllListeners("error").on("error", () => this.#close());
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null || socket.destroyed) return;
    const ended = Promise.withResolvers<void>();
    const timer = setTimeout(ended.resolve, this.#options.timeout);
    socket.once("close", ended.resolve).end();
    await ended.promise;
    clearTimeout(timer);
    socket.destroy();
  }

  #open(failed: (error: Error) => void): Socket {
    const known = this.#socket;
    if (known !== null && !known.destroyed && known.writable) {
      known.removeAllListeners("error").on("error", failed);
      return known;
    }
    this.#close();
    const { host, port } = this.#options;
    const socket = connect({ host, port, keepAlive: true, noDelay: true });
    socket.on("error", failed);
    // A receiver that closes has taken what it has taken; what it says is of no use.
    socket.on("end", () => socket.destroy());
    socket.resume();
    this.#socket = socket;
    return socket;
  }

  #close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }
}
