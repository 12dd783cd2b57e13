import { boundAnswer, type Endpoint, speak } from "@trawler/application";
import type { NetworkAccess } from "@trawler/plugin-api";

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
  let text = "";
  const result = await speak(net, { endpoint, timeout, signal }, async (socket) => {
    const end = Promise.withResolvers<void>();
    boundAnswer(socket, MAX_ANSWER);
    socket.on("error", end.reject).on("close", () => end.reject(new Error("it closed the connection")));
    socket.on("data", (chunk: Uint8Array) => {
      text += Buffer.from(chunk).toString("latin1");
      if (/(^|\r\n)(END|ERROR|(CLIENT|SERVER)_ERROR[^\r\n]*)\r\n$/.test(text)) end.resolve();
    });
    socket.write("stats\r\n");
    await end.promise;
    return text;
  });
  return "answer" in result ? { text: result.answer } : result.broken;
}
