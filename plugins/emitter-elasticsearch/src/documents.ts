import { ecs, parseFrame } from "@trawler/format";
import type { Envelope } from "@trawler/plugin-api";
import type { Config } from "./config.ts";

export interface Bulk {
  /** Lines of actions and documents (the bulk API's NDJSON). */
  readonly text: string;
  /** How many documents it holds. */
  readonly count: number;
}

/**
 * The documents of one envelope, each with an id that a retry has again: `create` then makes no duplicate. A data stream
 * keeps ids apart within one backing index only.
 */
export function bulkOf({ id, bytes }: Envelope, { index, format }: Pick<Config, "index" | "format">): Bulk {
  const frame = parseFrame(bytes);
  const documents = format === "ecs" ? ecs(frame).trimEnd().split("\n") : [stamped(frame.time, bytes)];
  const name = indexOf(index, frame.time);
  const lines = documents.map((document, place) => {
    const action = { create: { _index: name, _id: place === 0 ? id : `${id}:${place}` } };
    return `${JSON.stringify(action)}\n${document}\n`;
  });
  return { text: lines.join(""), count: documents.length };
}

/** A data stream takes no document without `@timestamp`. */
function stamped(time: string, bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return `{"@timestamp":${JSON.stringify(time)},${text.slice(1)}`;
}

function indexOf(pattern: string, time: string): string {
  const [, year = "0000", month = "00", day = "00"] = /^(\d{4})-(\d\d)-(\d\d)T/.exec(time) ?? [];
  return pattern.replaceAll("{yyyy}", year).replaceAll("{MM}", month).replaceAll("{dd}", day);
}
