import type { Document, Value } from "./document.ts";

/** Depth of nested values that is followed; a feature of ours is flat. */
const MAX_DEPTH = 8;
/** A number as text; not `NaN`, `Infinity`, `0x10` or an empty text. */
const NUMBER = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$/;
/** What ends a word or a line of the protocol. */
const BREAK = /[\s\p{Cc}]/gu;

/**
 * One line a figure of Graphite's plaintext protocol: `path value seconds`. Texts that are no numbers are left out;
 * true is 1, false 0. A dot inside a part of the namespace would make the path's depth vary: `dots` keeps it, as the
 * forerunner did.
 */
export function graphite(
  { namespace, timestamp, rows }: Document,
  { prefix = "", dots = false }: { readonly prefix?: string; readonly dots?: boolean } = {},
): string {
  const time = Math.floor(Date.parse(timestamp) / 1_000);
  const root = namespace
    .split("/")
    .map((part) => (dots ? part : part.replaceAll(".", "_")).replaceAll(BREAK, "_"))
    .join(".");
  const start = prefix === "" ? root : `${prefix}.${root}`;
  return rows
    .flatMap(({ key, value }) =>
      leaves(value, "", 0).map(([name, figure]) => {
        const path = `${start}.${keyPart(key)}.${metricPart(key, name)}`;
        return `${path} ${figure.toFixed(6)} ${time}\n`;
      }),
    )
    .join("");
}

/** The numbers of a value with their paths: members joined by dots, items as `[index]`. */
function leaves(value: Value, path: string, depth: number): readonly (readonly [string, number])[] {
  if (typeof value === "number") return Number.isFinite(value) ? [[path, value]] : [];
  if (typeof value === "boolean") return [[path, value ? 1 : 0]];
  if (typeof value === "string") {
    const figure = NUMBER.test(value) ? Number(value) : Number.NaN;
    return Number.isFinite(figure) ? [[path, figure]] : [];
  }
  if (value === null || depth >= MAX_DEPTH) return [];
  return Array.isArray(value)
    ? value.flatMap((item: Value, index) => leaves(item, `${path}[${index}]`, depth + 1))
    : Object.entries(value).flatMap(([name, member]) =>
        leaves(member, path === "" ? name : `${path}.${name}`, depth + 1),
      );
}

function keyPart(key: string): string {
  const part = key === "load" ? "load.load" : key;
  return part.replaceAll("_", "-").replaceAll("/", "$").replaceAll(BREAK, "_");
}

function metricPart(key: string, name: string): string {
  const metric = name
    .replaceAll("(", "_")
    .replaceAll(")", "")
    .replaceAll(/[ \-/\\]/g, "_")
    .replaceAll(BREAK, "_");
  const hyphened = /cpu|memory/.test(key) ? metric.replaceAll("_", "-") : metric;
  return hyphened.includes("if") ? hyphened.replaceAll("_tx", ".tx").replaceAll("_rx", ".rx") : hyphened;
}
