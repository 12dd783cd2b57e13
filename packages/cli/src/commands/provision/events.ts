import type { IncomingMessage } from "node:http";
import { TrawlerError } from "@trawler/plugin-api";

export interface ServedEvent {
  readonly id: number;
  readonly type: string;
  readonly data: unknown;
}

const MOST_EVENT = 4 * 1024 ** 2;

/** Reads server-sent events with data in JSON. Comments are left out. */
export async function* eventsOf(response: IncomingMessage): AsyncGenerator<ServedEvent> {
  let rest = "";
  response.setEncoding("utf8");
  for await (const part of response) {
    const blocks = `${rest}${part}`.split("\n\n");
    rest = blocks.pop() ?? "";
    if (rest.length > MOST_EVENT) throw new TrawlerError("TRAWLER_LIMIT", "an event of the service is too large");
    for (const block of blocks) {
      const fields = new Map<string, string>();
      for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
      }
      const data = fields.get("data");
      if (data === undefined) continue;
      yield { id: Number(fields.get("id") ?? 0), type: fields.get("event") ?? "message", data: JSON.parse(data) };
    }
  }
}
