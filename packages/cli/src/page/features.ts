import type { Feature, FeatureValue } from "@trawler/plugin-api";
import type { Field } from "./fields.ts";
import type { PageOptions } from "./options.ts";
import { type Column, table } from "./table.ts";
import { printable, showValue } from "./value.ts";

const NAME = 30;
const INDENT = "    ";

/** The features of one type: the fields of the only one, a line each, or a table of several. */
export function featureLines(type: string, features: readonly Feature[], options: PageOptions): readonly string[] {
  const [first] = features;
  if (first === undefined) return [];
  const { paint } = options;
  const count = features.length === 1 ? "" : ` (${features.length})`;
  const key = features.length === 1 && first.key !== type ? ` ${printable(first.key)}` : "";
  const heading = `  ${paint.name(printable(type))}${key}${count}`;
  const body = features.length === 1 ? listed(type, first, options) : tabled(type, features, options);
  return [heading, ...body.map((line) => `${INDENT}${line}`.trimEnd())];
}

function listed(type: string, feature: Feature, { fields, meanings, paint }: PageOptions): readonly string[] {
  const entries = Object.entries(feature.value as FeatureValue);
  const measured = entries.filter(([, value]) => value !== null);
  const missing = entries.filter(([, value]) => value === null).map(([name]) => shortName(type, name));
  const lines = measured.map(([name, value]) => {
    const field = fields.get(type)?.get(name);
    const text = showValue(value, field?.unit ?? null);
    const meaning = meanings && field?.meaning ? paint.faint(`  ${field.meaning}`) : "";
    return `${shortName(type, name).padEnd(NAME)} ${text}${meaning}`;
  });
  return missing.length === 0 ? lines : [...lines, paint.faint(`no value: ${missing.join(", ")}`)];
}

function tabled(type: string, features: readonly Feature[], options: PageOptions): readonly string[] {
  const { rows, width, paint, fields } = options;
  const shown = features.toSorted((one, other) => compare(one.key, other.key)).slice(0, rows);
  const { lines, left } = table(columnsOf(type, shown, fields.get(type)), width - INDENT.length);
  const more = features.length - shown.length;
  const notes = [
    ...(more > 0 ? [`… ${more} more: --rows ${features.length} shows all`] : []),
    ...(left.length > 0 ? [`not shown: ${left.join(", ")}`] : []),
  ];
  return [...lines, ...notes.map(paint.faint)];
}

/** What says the key, then each other field that any row has a value for. */
function columnsOf(
  type: string,
  features: readonly Feature[],
  fields: ReadonlyMap<string, Field> | undefined,
): readonly Column[] {
  const values = features.map(({ value }) => value as FeatureValue);
  const names = [...new Set(values.flatMap((value) => Object.keys(value)))];
  const columns = names
    .filter((name) => values.some((value) => (value[name] ?? null) !== null))
    .map((name) => ({
      name,
      heading: shortName(type, name),
      cells: values.map((value) => showValue(value[name] ?? null, fields?.get(name)?.unit ?? null)),
    }));
  const keys = features.map(({ key }) => printable(key));
  // `pid:starttime` is told by its pid, a path by its path.
  const told = columns.find(({ cells }) =>
    cells.every((cell, row) => keys[row] === cell || keys[row]?.split(":")[0] === cell),
  );
  return [told ?? { heading: "key", cells: keys }, ...columns.filter((column) => column !== told)];
}

/** `memory.usage` of type memory is `usage`. */
const shortName = (type: string, name: string): string =>
  printable(name.startsWith(`${type}.`) ? name.slice(type.length + 1) : name);

const compare = (one: string, other: string): number => one.localeCompare(other, "en", { numeric: true });
