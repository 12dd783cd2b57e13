import { createInterface } from "node:readline";
import { errorMessage, FRAME_SCHEMA, type Frame, TrawlerError } from "@trawler/plugin-api";

/** Frames of JSON lines, one at a time. Throws TRAWLER_CONFIG_INVALID with the name and line of what is none. */
export async function* readFrames(input: NodeJS.ReadableStream, name: string): AsyncGenerator<Frame, void> {
  let number = 0;
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() === "") continue;
      const frame: unknown = JSON.parse(line);
      if (!isFrame(frame)) throw new Error(`no frame of ${FRAME_SCHEMA}: files of \`trawl once\` hold one a line`);
      yield frame;
    }
  } catch (cause) {
    const where = number === 0 ? name : `${name}:${number}`;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `${where}: ${errorMessage(cause)}`, { cause });
  }
}

function isFrame(value: unknown): value is Frame {
  return typeof value === "object" && value !== null && "schema" in value && value.schema === FRAME_SCHEMA;
}
