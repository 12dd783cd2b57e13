import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { decodeMulti, encode } from "@msgpack/msgpack";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import { type Account, ping } from "./handshake.ts";

export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  /** Milliseconds that connecting with its handshake, or one message with its answer, may take. */
  readonly timeout: number;
  readonly account: Account | null;
  /** Null = no TLS; `ca` null = the system's. */
  readonly tls: { readonly ca: string | null } | null;
}

/** Bytes of one answer: HELO and PONG are below 1 KiB. */
const MAX_ANSWER = 16_384;

/** One connection on which a message is answered before the next is sent. Made on first use and anew after any failure. */
export class Connection implements AsyncDisposable {
  readonly #options: ConnectionOptions;
  #socket: Socket | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Sends a message and waits for the answer that names its chunk. Throws TRAWLER_UNAVAILABLE. */
  async send(message: Uint8Array, chunk: string, signal: AbortSignal): Promise<void> {
    const { host, port } = this.#options;
    try {
      const socket = await this.#open(signal);
      const answer = await this.#ask(socket, message, signal);
      const named = typeof answer === "object" && answer !== null && "ack" in answer ? answer.ack : null;
      if (named !== chunk) throw new Error("its answer names another message: it does not confirm what it takes");
    } catch (cause) {
      this.#close();
      signal.throwIfAborted();
      // A key or a user may be mended while the frames wait.
      throw new TrawlerError("TRAWLER_UNAVAILABLE", `${host}:${port}: ${errorMessage(cause)}`, { cause });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
  }

  async #open(signal: AbortSignal): Promise<Socket> {
    if (this.#socket !== null && !this.#socket.destroyed && this.#socket.writable) return this.#socket;
    this.#close();
    const { host, port, tls, account } = this.#options;
    const socket =
      tls === null
        ? connectTcp({ host, port, keepAlive: true, noDelay: true })
        : connectTls({ host, port, servername: host, ...(tls.ca === null ? {} : { ca: tls.ca }) });
    this.#socket = socket;
    // A receiver that closes between two messages is found at the next one.
    socket.on("error", () => socket.destroy());
    if (account === null) return socket;
    const { message, check } = ping(await this.#ask(socket, null, signal), account);
    check(await this.#ask(socket, encode(message), signal));
    return socket;
  }

  /** Writes, where there is something to write, and waits for one whole answer. */
  async #ask(socket: Socket, message: Uint8Array | null, signal: AbortSignal): Promise<unknown> {
    const { timeout } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    let answer: Uint8Array = new Uint8Array();
    const onData = (chunk: Uint8Array): void => {
      answer = Buffer.concat([answer, chunk]);
      if (answer.length > MAX_ANSWER) {
        reject(new Error(`it answers with more than ${MAX_ANSWER} bytes`));
        return;
      }
      try {
        const value = firstValue(answer);
        if (value !== undefined) resolve(value);
      } catch (error) {
        reject(new Error(`its answer is no MessagePack: ${errorMessage(error)}`));
      }
    };
    const onClose = (): void => reject(new Error("it closed the connection without an answer"));
    const onAbort = (): void => reject(signal.reason);
    const late = setTimeout(() => reject(new Error(`no answer within ${timeout} ms`)), timeout);
    socket.on("data", onData).on("error", reject).on("close", onClose);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      signal.throwIfAborted();
      if (message !== null) socket.write(message);
      return await promise;
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", onAbort);
      socket.off("data", onData).off("error", reject).off("close", onClose);
    }
  }

  #close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }
}

/** The first value that the bytes hold whole; undefined where they end before it does. */
function firstValue(bytes: Uint8Array): unknown {
  try {
    for (const value of decodeMulti(bytes, { maxStrLength: MAX_ANSWER, maxArrayLength: 16, maxMapLength: 16 })) {
      return value;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return undefined;
}
