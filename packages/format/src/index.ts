import { type Frame, TrawlerError } from "@trawler/plugin-api";
import { csv } from "./csv.ts";
import { documentOf } from "./document.ts";
import { ecs } from "./ecs.ts";
import { graphite } from "./graphite.ts";
import { jsonLines } from "./json-lines.ts";
import { logstash } from "./logstash.ts";
import type { NameOf } from "./name.ts";

export { csv } from "./csv.ts";
export { type Document, documentOf, type Row, type Value } from "./document.ts";
export { ECS_VERSION, ecs } from "./ecs.ts";
export { graphite } from "./graphite.ts";
export { jsonLines } from "./json-lines.ts";
export { logstash } from "./logstash.ts";
export { NAME_DESCRIPTION, NAME_HINT, NAME_TEMPLATE, type NameOf, nameBy, namespaceOf } from "./name.ts";

/** Projections of a frame, by the names that settings give them; `json` is the frame itself on one line. */
export const FORMATS = ["json", "csv", "json-lines", "logstash", "graphite", "ecs"] as const;
export type Format = (typeof FORMATS)[number];

/** Media type of a text of whole frames in this format. */
export const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  json: "application/x-ndjson",
  csv: "text/tab-separated-values; charset=utf-8",
  "json-lines": "application/x-ndjson",
  logstash: "application/x-ndjson",
  graphite: "text/plain; charset=utf-8",
  ecs: "application/x-ndjson",
};

const encoder = new TextEncoder();
const LINE_END = 0x0a;

/**
 * A frame's UTF-8 JSON in another format; whole lines. `nameOf` names its subject in the line formats. Throws
 * TRAWLER_PLUGIN_INVALID where it is no frame.
 */
export function formatFrame(bytes: Uint8Array, format: Format, nameOf?: NameOf): Uint8Array {
  if (format === "json") {
    const line = new Uint8Array(bytes.length + 1);
    line.set(bytes);
    line[bytes.length] = LINE_END;
    return line;
  }
  return encoder.encode(format === "ecs" ? ecs(parseFrame(bytes)) : line(format, parseFrame(bytes), nameOf));
}

/** The frame that an envelope carries. Throws TRAWLER_PLUGIN_INVALID where it is none. */
export function parseFrame(bytes: Uint8Array): Frame {
  let frame: unknown;
  try {
    frame = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  } catch (cause) {
    throw new TrawlerError("TRAWLER_PLUGIN_INVALID", "what is to be formatted is no JSON", { cause });
  }
  if (!isFrame(frame)) throw new TrawlerError("TRAWLER_PLUGIN_INVALID", "what is to be formatted is no frame");
  return frame;
}

function line(format: Exclude<Format, "json" | "ecs">, frame: Frame, nameOf: NameOf | undefined): string {
  return { csv, "json-lines": jsonLines, logstash, graphite }[format](documentOf(frame, nameOf));
}

function isFrame(value: unknown): value is Frame {
  return (
    typeof value === "object" &&
    value !== null &&
    "schema" in value &&
    value.schema === "trawler.frame/1" &&
    "features" in value &&
    Array.isArray(value.features) &&
    "containers" in value &&
    Array.isArray(value.containers)
  );
}
