import { type IpcSocketConnectOpts, Socket, type TcpSocketConnectOpts } from "node:net";
import { errorCode } from "@trawler/plugin-api";
import { SystemError } from "../ffi/libc.ts";
import { closeQuietly } from "../files/descriptor.ts";

/** The overall end of one call, and how much time is left. */
export class Deadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #end: number;
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  readonly #stop = (): void => this.#controller.abort(new SystemError("ETIME"));

  constructor(milliseconds: number, outer: AbortSignal | undefined) {
    this.signal = this.#controller.signal;
    this.#end = performance.now() + milliseconds;
    this.#timer = setTimeout(this.#stop, milliseconds);
    this.#outer = outer;
    if (outer?.aborted === true) this.#stop();
    outer?.addEventListener("abort", this.#stop, { once: true });
  }

  /** Milliseconds, at least 1. */
  left(): number {
    return Math.max(1, this.#end - performance.now());
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#stop);
  }
}

/** An ordinary socket of Node over an unconnected descriptor, which it owns from here on. */
export function adopt(descriptor: number): Socket {
  try {
    return new Socket({ fd: descriptor, readable: true, writable: true });
  } catch (error) {
    closeQuietly(descriptor);
    throw error;
  }
}

/** Connects within `milliseconds`; on any failure the socket is destroyed. Throws errors with errno's codes. */
export function dial(
  socket: Socket,
  target: TcpSocketConnectOpts | IpcSocketConnectOpts,
  milliseconds: number,
  signal: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const fail = (error: Error): void => {
    settle();
    socket.destroy();
    reject(error);
  };
  const aborted = (): void => fail(signal.reason instanceof Error ? signal.reason : new SystemError("ETIME"));
  const timer = setTimeout(() => fail(new SystemError("ETIMEDOUT")), milliseconds);
  const connected = (): void => {
    // A port nobody listens on can be drawn as our own source port: then we would speak with ourselves.
    if (socket.localPort !== undefined && socket.localPort === socket.remotePort && isSelf(socket)) {
      fail(new SystemError("ECONNREFUSED"));
      return;
    }
    settle();
    resolve(socket);
  };
  const settle = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
    socket.off("connect", connected);
    socket.off("error", fail);
  };
  // Stays on: an error that comes before the caller listens must not end the process.
  socket.on("error", ignore);
  socket.on("error", fail);
  socket.on("connect", connected);
  if (signal.aborted) aborted();
  else {
    signal.addEventListener("abort", aborted, { once: true });
    try {
      socket.connect(target);
    } catch (error) {
      fail(error instanceof Error ? error : new SystemError(errorCode(error) ?? "EINVAL"));
    }
  }
  return promise;
}

function isSelf(socket: Socket): boolean {
  return socket.localAddress === socket.remoteAddress;
}

function ignore(): void {}
