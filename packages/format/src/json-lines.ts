import type { Document } from "./document.ts";

/**
 * The metadata, then one object a feature: its fields with `feature_type`, `feature_key` and `namespace` beside them. A
 * field of the feature that has one of these names gives way: it stands as `value_<name>`.
 */
export function jsonLines({ metadata, namespace, rows }: Document): string {
  const lines = rows.map(({ type, key, value }) => {
    const envelope = { feature_type: type, feature_key: key, namespace };
    const fields = Object.entries(value).map(([name, field]) => [
      Object.hasOwn(envelope, name) ? `value_${name}` : name,
      field,
    ]);
    return JSON.stringify({ ...Object.fromEntries(fields), ...envelope });
  });
  return [JSON.stringify(metadata), ...lines].map((line) => `${line}\n`).join("");
}
