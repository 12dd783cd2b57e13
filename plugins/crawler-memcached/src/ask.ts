import type { Endpoint } from "@trawler/application";
import { errorCode, errorMessage, type NetworkAccess } from "@trawler/plugin-api";

export type Answer = { readonly text: string } | { readonly reason: string; readonly heard: boolean };

/** `stats` of a server with all its settings on is below 4 KiB. */
const MAX_ANSWER = 65_536;

/**
 * Sends `stats` over a connection of its own and reads until the answer ends. Failures are answers, never throws, except
 * those that say the member has gone.
 */
export async function ask(
  net: Pick<NetworkAccess, "connect">,
  endpoint: Endpoint,
  timeout: number,
  signal: AbortSignal,
): Promise<Answer> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  let text = "";
  try {
    const socket = await net.connect(endpoint, { signal: deadline, timeout });
    const end = Promise.withResolvers<void>();
    const stop = (): void => end.reject(new Error("no whole answer in time"));
    deadline.addEventListener("abort", stop, { once: true });
    socket.on("error", end.reject).on("close", () => end.reject(new Error("it closed the connection")));
    socket.on("data", (chunk: Uint8Array) => {
      text += Buffer.from(chunk).toString("latin1");
      if (text.length > MAX_ANSWER) end.reject(new Error(`it answers with more than ${MAX_ANSWER} bytes`));
      else if (/(^|\r\n)(END|ERROR|(CLIENT|SERVER)_ERROR[^\r\n]*)\r\n$/.test(text)) end.resolve();
    });
    try {
      socket.write("stats\r\n");
      await end.promise;
      return { text };
    } finally {
      deadline.removeEventListener("abort", stop);
      end.promise.catch(() => undefined);
      socket.destroy();
    }
  } catch (error) {
    if (errorCode(error) === "TRAWLER_GONE") throw error;
    return { reason: deadline.aborted ? "no whole answer in time" : errorMessage(error), heard: text !== "" };
  }
}
