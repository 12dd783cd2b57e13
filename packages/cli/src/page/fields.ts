import type { CrawlerPlugin } from "@trawler/plugin-api";

/** What a feature's schema says of one field. */
export interface Field {
  /** UCUM unit; null where it has none. */
  readonly unit: string | null;
  /** One sentence; empty where the schema has none. */
  readonly meaning: string;
}

/** Fields by feature type and name. */
export type Fields = ReadonlyMap<string, ReadonlyMap<string, Field>>;

/** Units and meanings from the schemas that crawlers declare. */
export function fieldsOf(crawlers: readonly CrawlerPlugin[]): Fields {
  return new Map(
    crawlers.flatMap(({ features }) =>
      Object.entries(features).map(([type, schema]) => [
        type,
        ofSchema(schema["~standard"].jsonSchema.output({ target: "draft-2020-12" })),
      ]),
    ),
  );
}

function ofSchema(schema: Readonly<Record<string, unknown>>): ReadonlyMap<string, Field> {
  const { properties } = schema;
  if (typeof properties !== "object" || properties === null) return new Map();
  return new Map(
    Object.entries(properties).map(([name, property]): [string, Field] => [
      name,
      { unit: text(property, "x-unit"), meaning: text(property, "description") ?? "" },
    ]),
  );
}

function text(property: unknown, key: string): string | null {
  const value: unknown = typeof property === "object" && property !== null ? Reflect.get(property, key) : null;
  return typeof value === "string" ? value : null;
}
