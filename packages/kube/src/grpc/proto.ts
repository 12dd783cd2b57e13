/** The JSON form of a protocol that protobuf.js reads. */
interface ProtoNode {
  fields?: Record<string, { type: string; id: number; rule?: "repeated"; keyType?: "string" }>;
  values?: Record<string, number>;
  methods?: Record<string, { requestType: string; responseType: string; responseStream: boolean }>;
  nested?: Record<string, ProtoNode>;
}

const FIELD = /^(?:(repeated) |optional )?(map<string, ([\w.]+)>|[\w.]+) (\w+) = (\d+);$/;
const METHOD = /^rpc (\w+)\(([\w.]+)\) returns \((stream )?([\w.]+)\);$/;

/**
 * Reads one of this package's own protocol texts: a package, and flat messages, enums and services with one statement a
 * line. Field names become camel case. Throws on any other line: the texts are constants, so that is a mistake of ours.
 */
export function parseProto(text: string): ProtoNode {
  const root: ProtoNode = {};
  let scope: Record<string, ProtoNode> = {};
  let open: ProtoNode | null = null;
  let kind = "";
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    const head = /^(message|enum|service) (\w+) \{(\})?$/.exec(line);
    const [, word, name, closed] = head ?? [];
    if (line === "" || line.startsWith("//") || line.startsWith("syntax ")) continue;
    if (line.startsWith("package ")) {
      scope = namespace(root, line.slice(8, -1).split("."));
    } else if (word !== undefined && name !== undefined) {
      kind = word;
      open = word === "message" ? { fields: {} } : word === "enum" ? { values: {} } : { methods: {} };
      scope[name] = open;
      if (closed !== undefined) open = null;
    } else if (line === "}") {
      open = null;
    } else if (open === null || !statement(open, kind, line)) {
      throw new Error(`unknown line in a protocol text: ${line}`);
    }
  }
  return root;
}

function namespace(root: ProtoNode, path: readonly string[]): Record<string, ProtoNode> {
  let node = root;
  for (const part of path) {
    node.nested ??= {};
    node = node.nested[part] ??= {};
  }
  node.nested ??= {};
  return node.nested;
}

function statement(node: ProtoNode, kind: string, line: string): boolean {
  if (kind === "message" && node.fields !== undefined) {
    const [, repeated, type, mapped, name, id] = FIELD.exec(line) ?? [];
    if (type === undefined || name === undefined) return false;
    node.fields[name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())] = {
      type: mapped ?? type,
      id: Number(id),
      ...(repeated === undefined ? {} : { rule: "repeated" as const }),
      ...(mapped === undefined ? {} : { keyType: "string" as const }),
    };
    return true;
  }
  if (kind === "enum" && node.values !== undefined) {
    const [, name, value] = /^(\w+) = (\d+);$/.exec(line) ?? [];
    if (name === undefined) return false;
    node.values[name] = Number(value);
    return true;
  }
  const [, name, requestType, stream, responseType] = METHOD.exec(line) ?? [];
  if (name === undefined || requestType === undefined || responseType === undefined) return false;
  if (node.methods === undefined) return false;
  node.methods[name] = { requestType, responseType, responseStream: stream !== undefined };
  return true;
}
