import type { Document, Value } from "./document.ts";

/** One object on one line: `metadata`, and a member for each type that holds its features by key. */
export function logstash({ metadata, rows }: Document): string {
  const types = new Map<string, Map<string, Value>>();
  for (const { type, key, value } of rows) {
    const known = types.get(type) ?? new Map<string, Value>();
    types.set(type, known.set(unused(key, known), value));
  }
  const members = Array.from(types, ([type, byKey]): [string, Value] => [
    type === "metadata" ? "metadata_" : type,
    Object.fromEntries(byKey),
  ]);
  return `${JSON.stringify(Object.fromEntries([...members, ["metadata", metadata]]))}\n`;
}

/** Of two features with one key neither is lost: the second is `key#2`. */
function unused(key: string, known: ReadonlyMap<string, Value>): string {
  if (!known.has(key)) return key;
  let count = 2;
  while (known.has(`${key}#${count}`)) count += 1;
  return `${key}#${count}`;
}
