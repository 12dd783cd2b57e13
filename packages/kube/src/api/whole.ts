import { TrawlerError } from "@trawler/plugin-api";
import type { ApiClient, ApiRequest } from "./client.ts";
import { deadline } from "./deadline.ts";

/** Room for one answer after another. */
export interface AnswerRoom {
  bytes: Buffer;
}

/** The bytes of one whole answer, not parsed; with `room` they stand there, until it is used again. Errors as those of `get`. */
export async function wholeAnswer(
  client: ApiClient,
  request: ApiRequest & { readonly timeout: number; readonly maxBytes: number; readonly signal: AbortSignal },
  room: AnswerRoom = { bytes: Buffer.alloc(0) },
): Promise<Buffer> {
  const { what, timeout, maxBytes } = request;
  using limit = deadline(timeout, request.signal);
  using stream = await client.stream({ ...request, signal: limit.signal });
  const stop = (): void => stream[Symbol.dispose]();
  limit.signal.addEventListener("abort", stop, { once: true });
  let size = 0;
  try {
    for await (const chunk of stream.chunks) {
      const end = size + chunk.length;
      if (end > maxBytes) {
        throw new TrawlerError("TRAWLER_LIMIT", `${what}: the answer is larger than ${maxBytes} bytes`);
      }
      if (end > room.bytes.length) room.bytes = grown(room.bytes, size, end);
      chunk.copy(room.bytes, size);
      size = end;
    }
  } finally {
    limit.signal.removeEventListener("abort", stop);
  }
  if (limit.signal.aborted) throw new TrawlerError("TRAWLER_UNAVAILABLE", `${what}: no whole answer in time`);
  return room.bytes.subarray(0, size);
}

const LEAST = 64 * 1024;

function grown(bytes: Buffer, used: number, least: number): Buffer {
  const next = Buffer.allocUnsafeSlow(Math.max(LEAST, least, bytes.length * 2));
  bytes.copy(next, 0, 0, used);
  return next;
}
