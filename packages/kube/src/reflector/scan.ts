import { type ObjectMeta, objectMeta } from "./event.ts";

/**
 * An object that was found in a text, not parsed: its bytes, and what they say of its identity. Its managed fields, a
 * third of it that nobody asks for, are gone from the bytes.
 */
export interface ScannedObject {
  readonly meta: ObjectMeta;
  readonly bytes: Uint8Array;
}

export interface ScannedPage {
  readonly resourceVersion: string | null;
  readonly next: string | null;
  /** Null stands for one without identity. */
  readonly items: readonly (ScannedObject | null)[];
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Takes the value that begins at a place, and tells where it ends. */
type Visit = (key: string, at: number) => number;

/** Where an object stands; `managed`: the value of its managed fields. */
interface Found {
  readonly meta: ObjectMeta;
  readonly start: number;
  readonly end: number;
  readonly managed: readonly [number, number] | null;
}

/**
 * Reads identity and bounds from JSON in one pass, without making objects of it: the rest is somebody else's to parse.
 * It accepts more than JSON; whoever parses the bytes must be ready for that. -1 stands for "cut short".
 */
function scanObject(bytes: Buffer, at: number): { readonly found: Found | null; readonly end: number } {
  let uid: unknown;
  let resourceVersion: unknown;
  let managed: readonly [number, number] | null = null;
  const end = eachMember(bytes, at, (key, from) =>
    key !== "metadata"
      ? skipValue(bytes, from)
      : eachMember(bytes, from, (name, value) => {
          const to = skipValue(bytes, value);
          if (to !== -1 && name === "uid") uid = parse(bytes, value, to);
          if (to !== -1 && name === "resourceVersion") resourceVersion = parse(bytes, value, to);
          if (to !== -1 && name === "managedFields" && bytes[value] === OPEN_LIST) managed = [value, to];
          return to;
        }),
  );
  if (end === -1 || typeof uid !== "string" || uid === "" || uid.length > 256) return { found: null, end };
  const version = typeof resourceVersion === "string" && resourceVersion !== "" ? resourceVersion : null;
  return { found: { meta: { uid, resourceVersion: version }, start: at, end, managed }, end };
}

/** Empties the managed fields by moving up what stands behind them, in place. */
function take(bytes: Buffer, { meta, start, end, managed }: Found): ScannedObject {
  if (managed === null) return { meta, bytes: bytes.subarray(start, end) };
  const [from, to] = managed;
  bytes[from + 1] = CLOSE_LIST;
  bytes.copyWithin(from + 2, to, end);
  return { meta, bytes: bytes.subarray(start, end - (to - from - 2)) };
}

/** One line of a watch that carries an object; null where it is of another type, or not to be understood. Takes the bytes over. */
export function scanWatchLine(
  line: Buffer,
): { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: ScannedObject } | null {
  let type: unknown;
  let object: Found | null = null;
  const end = eachMember(line, skipSpace(line, 0), (key, at) => {
    if (key === "object" && line[at] === OPEN_OBJECT) {
      const scanned = scanObject(line, at);
      object = scanned.found;
      return scanned.end;
    }
    const to = skipValue(line, at);
    if (key === "type" && to !== -1) type = parse(line, at, to);
    return to;
  });
  if (end === -1 || object === null || skipSpace(line, end) !== line.length) return null;
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return null;
  return { type, object: take(line, object) };
}

/** As `scanWatchLine`, from the head of a line that was too long: an object of nothing but its identity. */
export function scanCutLine(
  head: Buffer,
): { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: ScannedObject } | null {
  let type: unknown;
  const metadata: Record<string, unknown> = Object.create(null);
  eachMember(head, skipSpace(head, 0), (key, at) => {
    if (key === "object") {
      return eachMember(head, at, (member, from) =>
        member !== "metadata"
          ? skipValue(head, from)
          : eachMember(head, from, (name, value) => {
              const to = skipValue(head, value);
              if (to !== -1 && IDENTITY.has(name)) metadata[name] = parse(head, value, to);
              return to;
            }),
      );
    }
    const to = skipValue(head, at);
    if (key === "type" && to !== -1) type = parse(head, at, to);
    return to;
  });
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return null;
  const meta = objectMeta({ metadata });
  if (meta === null) return null;
  return { type, object: { meta: { ...meta, truncated: true }, bytes: Buffer.from(JSON.stringify({ metadata })) } };
}

const IDENTITY = new Set(["uid", "resourceVersion", "namespace", "name"]);

/** One page of a list; null where it is none. Takes the bytes over. */
export function scanListPage(body: Buffer): ScannedPage | null {
  const items: (ScannedObject | null)[] = [];
  let metadata: unknown;
  let wrong = false;
  const end = eachMember(body, skipSpace(body, 0), (key, at) => {
    if (key !== "items") {
      const to = skipValue(body, at);
      if (key === "metadata" && to !== -1) metadata = parse(body, at, to);
      return to;
    }
    if (body[at] === OPEN_LIST) return eachItem(body, at, items);
    const to = skipValue(body, at);
    wrong = to !== -1 && body.toString("latin1", at, to) !== "null";
    return to;
  });
  if (end === -1 || wrong) return null;
  return { resourceVersion: text(metadata, "resourceVersion"), next: text(metadata, "continue"), items };
}

function eachItem(bytes: Buffer, start: number, items: (ScannedObject | null)[]): number {
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_LIST) return at + 1;
  for (;;) {
    if (bytes[at] === OPEN_OBJECT) {
      const { found, end } = scanObject(bytes, at);
      items.push(found === null ? null : take(bytes, found));
      at = end;
    } else {
      items.push(null);
      at = skipValue(bytes, at);
    }
    if (at === -1) return -1;
    at = skipSpace(bytes, at);
    if (bytes[at] === CLOSE_LIST) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at = skipSpace(bytes, at + 1);
  }
}

/** The end of the object that begins here; -1 where it is none, or has no end. */
function eachMember(bytes: Buffer, start: number, visit: Visit): number {
  if (bytes[start] !== OPEN_OBJECT) return -1;
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) return -1;
    const keyEnd = skipString(bytes, at);
    if (keyEnd === -1) return -1;
    const colon = skipSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) return -1;
    at = visit(bytes.toString("latin1", at + 1, keyEnd - 1), skipSpace(bytes, colon + 1));
    if (at === -1) return -1;
    at = skipSpace(bytes, at);
    if (bytes[at] === CLOSE_OBJECT) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at = skipSpace(bytes, at + 1);
  }
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at += 1;
  return at;
}

function skipString(bytes: Buffer, start: number): number {
  const { length } = bytes;
  for (let at = start + 1; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  return -1;
}

function skipValue(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  const { length } = bytes;
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
    let at = start;
    for (; at < length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte <= 0x20) break;
    }
    return at === start ? -1 : at;
  }
  let depth = 0;
  for (let at = start; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = skipString(bytes, at);
      if (end === -1) return -1;
      at = end - 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function parse(bytes: Buffer, from: number, to: number): unknown {
  try {
    return JSON.parse(bytes.toString("utf8", from, to));
  } catch {
    return undefined;
  }
}

function text(value: unknown, key: string): string | null {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : null;
  return typeof found === "string" && found !== "" ? found : null;
}
