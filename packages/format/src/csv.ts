import type { Document } from "./document.ts";

/** A line of metadata, then one line a feature: `type TAB key as JSON TAB value as JSON`. */
export function csv({ metadata, rows }: Document): string {
  const lines = rows.map(({ type, key, value }) => `${word(type)}\t${JSON.stringify(key)}\t${JSON.stringify(value)}\n`);
  return [`metadata\t"metadata"\t${JSON.stringify(metadata)}\n`, ...lines].join("");
}

/** A type is a name of ours; a foreign one must not make a column or a line. */
function word(type: string): string {
  return type.replaceAll(/\s/g, "_");
}
