import { StringDecoder } from "node:string_decoder";
import { TrawlerError } from "@trawler/plugin-api";

/** Far more than one event is; labels are part of it. */
const MAX_LINE = 4 * 1024 * 1024;

/**
 * The JSON values of a stream that has one on each line, however its chunks are cut.
 * @throws TRAWLER_RETRY for a line that is no JSON or has no end.
 */
export async function* jsonLines(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<unknown> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of chunks) {
    rest += typeof chunk === "string" ? chunk : decoder.write(chunk);
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      const line = rest.slice(0, end).trim();
      rest = rest.slice(end + 1);
      if (line !== "") yield parse(line);
    }
    if (rest.length > MAX_LINE) throw new TrawlerError("TRAWLER_RETRY", "the engine's event has no end");
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new TrawlerError("TRAWLER_RETRY", "the engine's event stream is damaged");
  }
}
