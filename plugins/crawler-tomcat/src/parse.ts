import { XMLParser } from "fast-xml-parser";

export type Attributes = Readonly<Record<string, string>>;

/** `manager/status?XML=true` of Tomcat's manager application. */
export interface Status {
  readonly memory: Attributes;
  readonly pools: readonly Attributes[];
  readonly connectors: readonly Connector[];
}
export interface Connector {
  /** Without the quotation marks that newer versions put around it. */
  readonly name: string;
  readonly threads: Attributes;
  readonly requests: Attributes;
  readonly workers: readonly Attributes[];
}

const MAX_POOLS = 64;
const MAX_CONNECTORS = 32;
const MAX_WORKERS = 200;

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  parseAttributeValue: false,
  htmlEntities: true,
});

/** Null where the text is no such page. */
export function parseStatus(text: string): Status | null {
  // The page has no types of its own; one that declares entities wants something else.
  if (text.includes("<!DOCTYPE") || text.includes("<!ENTITY")) return null;
  let document: unknown;
  try {
    document = parser.parse(text);
  } catch {
    return null;
  }
  const status = member(document, "status");
  const jvm = member(status, "jvm");
  if (status === null || jvm === null) return null;
  return {
    memory: attributes(member(jvm, "memory")),
    pools: many(jvm, "memorypool").slice(0, MAX_POOLS).map(attributes),
    connectors: many(status, "connector")
      .slice(0, MAX_CONNECTORS)
      .map((connector) => ({
        name: (attributes(connector)["name"] ?? "").replaceAll('"', "").slice(0, 128),
        threads: attributes(member(connector, "threadInfo")),
        requests: attributes(member(connector, "requestInfo")),
        workers: many(member(connector, "workers"), "worker").slice(0, MAX_WORKERS).map(attributes),
      })),
  };
}

/** A figure; null where it is absent, no number, or -1, which stands for "no limit". */
export function figure(from: Attributes, name: string): number | null {
  const text = from[name];
  return text !== undefined && /^\d{1,20}(\.\d+)?$/.test(text) ? Number(text) : null;
}

function member(from: unknown, name: string): unknown {
  if (typeof from !== "object" || from === null || !Object.hasOwn(from, name)) return null;
  return Reflect.get(from, name) ?? null;
}

function many(from: unknown, name: string): readonly unknown[] {
  const found = member(from, name);
  if (Array.isArray(found)) return found;
  return found === null ? [] : [found];
}

function attributes(from: unknown): Attributes {
  if (typeof from !== "object" || from === null) return {};
  return Object.fromEntries(
    Object.entries(from).flatMap(([name, value]: readonly [string, unknown]) =>
      typeof value === "string" ? [[name, value.slice(0, 512)]] : [],
    ),
  );
}
