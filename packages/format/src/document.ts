import type { Feature, FeatureValue, Frame } from "@trawler/plugin-api";
import { type NameOf, namespaceOf } from "./name.ts";

/** A value of a feature, or any JSON value of a foreign one. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

/** One feature as the line formats see it. */
export interface Row {
  /** Type of the feature, such as `cpu`. */
  readonly type: string;
  /** Its key; of a container's feature with the container's name before it: `web/cpu`. */
  readonly key: string;
  readonly value: Readonly<Record<string, Value>>;
}

/** What the line formats write: who it is about, when, and its features. */
export interface Document {
  /** Path of the subject, its parts joined by `/`: `shop/cart-0`, or the host's name. */
  readonly namespace: string;
  /** RFC 3339, or the same with an offset without colon. */
  readonly timestamp: string;
  /** Written first by the formats that have a place for it. */
  readonly metadata: Readonly<Record<string, Value>>;
  readonly rows: readonly Row[];
}

/** The rows of a frame: its own features, then those of each container in order. */
export function documentOf(frame: Frame, nameOf: NameOf = namespaceOf): Document {
  const namespace = nameOf(frame);
  const containers = frame.containers.filter(({ features }) => features.length > 0);
  return {
    namespace,
    timestamp: frame.time,
    metadata: {
      namespace,
      timestamp: frame.time,
      uuid: frame.id,
      system_type: frame.kind,
      features: [...new Set([frame, ...containers].flatMap(({ features }) => features.map(({ type }) => type)))].join(
        ",",
      ),
      reason: frame.reason,
      sequence: frame.sequence,
      ...(frame.part === undefined ? {} : { part: frame.part.index, parts: frame.part.count }),
      resource: { ...frame.resource },
      labels: { ...frame.labels },
      annotations: { ...frame.annotations },
    },
    rows: [
      ...frame.features.map((feature) => rowOf(feature, "")),
      ...containers.flatMap(({ name, features }) => features.map((feature) => rowOf(feature, `${name}/`))),
    ],
  };
}

/** A feature's value as the frame's schema has it: the contract ties it to its crawler's schema, which is not known here. */
export function featureValue({ value }: Feature): FeatureValue {
  return value as FeatureValue;
}

function rowOf(feature: Feature, prefix: string): Row {
  // A frame that was read from JSON has no bigint; one made in code may.
  const value = Object.entries(featureValue(feature)).map(([name, field]): [string, Value] => [
    name,
    typeof field === "bigint" ? Number(field) : field,
  ]);
  return { type: feature.type, key: `${prefix}${feature.key}`, value: Object.fromEntries(value) };
}
