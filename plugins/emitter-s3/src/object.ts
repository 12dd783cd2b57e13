import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Format, formatFrame, MEDIA_TYPES, type NameOf } from "@trawler/format";
import type { Envelope } from "@trawler/plugin-api";
import type { Config } from "./config.ts";

const compress = promisify(gzip);
const EXTENSIONS: Readonly<Partial<Record<Format, string>>> = { csv: "tsv", graphite: "txt" };

/** One batch as the content of an object. */
export async function contentOf(
  envelopes: readonly Envelope[],
  { format, compression }: Pick<Config, "format" | "compression">,
  nameOf?: NameOf,
): Promise<{ readonly body: Uint8Array; readonly mediaType: string }> {
  const lines = Buffer.concat(envelopes.map(({ bytes }) => formatFrame(bytes, format, nameOf)));
  return compression === "gzip"
    ? { body: await compress(lines), mediaType: "application/gzip" }
    : { body: lines, mediaType: MEDIA_TYPES[format] };
}

/** Key of the object that a batch makes; `time` in milliseconds since the epoch. */
export function keyOf(
  { prefix, format, compression }: Pick<Config, "prefix" | "format" | "compression">,
  { node, instance, sequence, time }: { node: string; instance: string; sequence: number; time: number },
): string {
  const folder = new Date(time).toISOString().slice(0, 13).replaceAll(/[-T]/g, "/");
  const name = `${node.replaceAll(/[^A-Za-z0-9._-]/g, "_")}-${instance}-${String(sequence).padStart(8, "0")}`;
  const extension = `${EXTENSIONS[format] ?? "ndjson"}${compression === "gzip" ? ".gz" : ""}`;
  return `${prefix === "" ? "" : `${prefix}/`}${folder}/${name}.${extension}`;
}

/** Where an object is, encoded as it is signed. */
export function addressOf(
  { bucket, region, endpoint, pathStyle = endpoint !== undefined }: Config,
  key: string,
): { readonly origin: string; readonly host: string; readonly path: string } {
  const { protocol, host: server } = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  // A dot in the bucket's name would be a level of the host's name that no certificate covers.
  const inPath = pathStyle || (bucket.includes(".") && protocol === "https:");
  const host = inPath ? server : `${bucket}.${server}`;
  const path = `/${[...(inPath ? [bucket] : []), ...key.split("/")].map(encodeURIComponent).join("/")}`;
  return { origin: `${protocol}//${host}`, host, path };
}
