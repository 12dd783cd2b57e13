import { createInterface } from "node:readline";
import { errorMessage, FRAME_SCHEMA, type Frame, TrawlerError } from "@trawler/plugin-api";

/**
 * Frames of JSON lines, one at a time. Throws TRAWLER_CONFIG_INVALID with the name and line of what is none, or the name of
 * what cannot be read.
 */
export async function* readFrames(input: NodeJS.ReadableStream, name: string): AsyncGenerator<Frame, void> {
  let number = 0;
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() === "") continue;
      yield parseFrame(line);
    }
  } catch (cause) {
    const what = errorMessage(cause);
    const message =
      number === 0 ? `${name}: ${what}; name a file of frames that can be read` : `${name}:${number}: ${what}`;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", message, { cause });
  }
}

function parseFrame(line: string): Frame {
  const expected = `no frame of ${FRAME_SCHEMA}: files of \`trawl once\` hold one a line`;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new Error(`${expected} (${errorMessage(cause)})`, { cause });
  }
  if (!isFrame(value)) throw new Error(expected);
  return value;
}

function isFrame(value: unknown): value is Frame {
  return typeof value === "object" && value !== null && "schema" in value && value.schema === FRAME_SCHEMA;
}
