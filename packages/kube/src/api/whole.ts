import { TrawlerError } from "@trawler/plugin-api";
import type { ApiClient, ApiRequest } from "./client.ts";
import { deadline } from "./deadline.ts";

/** The bytes of one whole answer, not parsed. Errors as those of `get`. */
export async function wholeAnswer(
  client: ApiClient,
  request: ApiRequest & { readonly timeout: number; readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Buffer> {
  const { what, timeout, maxBytes } = request;
  using limit = deadline(timeout, request.signal);
  using stream = await client.stream({ ...request, signal: limit.signal });
  const stop = (): void => stream[Symbol.dispose]();
  limit.signal.addEventListener("abort", stop, { once: true });
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream.chunks) {
      size += chunk.length;
      if (size > maxBytes)
        throw new TrawlerError("TRAWLER_LIMIT", `${what}: the answer is larger than ${maxBytes} bytes`);
      parts.push(chunk);
    }
  } finally {
    limit.signal.removeEventListener("abort", stop);
  }
  if (limit.signal.aborted) throw new TrawlerError("TRAWLER_UNAVAILABLE", `${what}: no whole answer in time`);
  return Buffer.concat(parts, size);
}
