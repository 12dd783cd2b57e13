import { errorCode, errorMessage, type NetworkAccess, type NetworkSocket } from "@trawler/plugin-api";
import type { Endpoint } from "./endpoints.ts";

export interface ConnectionOptions {
  readonly endpoint: Endpoint;
  /** Milliseconds for everything, connecting included. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Why an exchange did not come to its end. */
export interface Broken {
  /** Of the error, where it has one; an empty text where not. */
  readonly code: string;
  /** Short, as it goes into a frame. */
  readonly reason: string;
  /** The server had said something. */
  readonly heard: boolean;
}

/**
 * Speaks with a server over a connection of its own, closed before this returns. A failure is an answer, never a throw,
 * except one that says the member has gone.
 */
export async function speak<T>(
  net: Pick<NetworkAccess, "connect">,
  { endpoint, timeout, signal }: ConnectionOptions,
  exchange: (socket: NetworkSocket) => Promise<T>,
): Promise<{ readonly answer: T } | { readonly broken: Broken }> {
  // One controller and one timer that is cleared: AbortSignal.any and .timeout keep both alive (nodejs/node#54614).
  const deadline = new AbortController();
  let socket: NetworkSocket | undefined;
  const stop = (): void => {
    deadline.abort();
    socket?.destroy(new Error("no whole answer in time"));
  };
  const timer = setTimeout(stop, timeout);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    const connected = await net.connect(endpoint, { signal: deadline.signal, timeout });
    socket = connected;
    // A socket without a listener would bring the process down by its error.
    connected.on("error", () => undefined);
    if (deadline.signal.aborted) stop();
    return { answer: await exchange(connected) };
  } catch (error) {
    const code = errorCode(error) ?? "";
    if (code === "TRAWLER_GONE") throw error;
    const reason = deadline.signal.aborted ? "no whole answer in time" : errorMessage(error).slice(0, 200);
    return { broken: { code, reason, heard: socket !== undefined && socket.bytesRead > 0 } };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    socket?.destroy();
  }
}

/**
 * Ends the connection once the server has sent more. It begins to read: call it in the same turn in which the client
 * begins to listen, or what a server says first is lost.
 */
export function boundAnswer(socket: NetworkSocket, maxBytes: number): void {
  socket.on("data", () => {
    if (socket.bytesRead > maxBytes) socket.destroy(new Error(`it answers with more than ${maxBytes} bytes`));
  });
}
