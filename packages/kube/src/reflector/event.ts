import { isRecord } from "../api/errors.ts";

/** Raw JSON of one Kubernetes object. */
export type RawObject = Readonly<Record<string, unknown>>;

/** What every object says of itself. */
export interface ObjectMeta {
  readonly uid: string;
  readonly resourceVersion: string | null;
  /** The object was too large to be read: nothing but its identity is known. */
  readonly truncated?: true;
}

export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly meta: ObjectMeta; readonly object: RawObject }
  /** Not parsed: for a reader that keeps the bytes. */
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly meta: ObjectMeta; readonly bytes: Uint8Array }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEnd: boolean }
  | { readonly type: "ERROR"; readonly status: unknown };

/** Parses one line of a watch. Null = not to be understood (no JSON, unknown type, no identity). */
export function parseWatchEvent(line: string): WatchEvent | null {
  const value = parseJson(line);
  if (!isRecord(value)) return null;
  const { type, object } = value;
  if (type === "ERROR") return { type, status: object };
  if (!isRecord(object)) return null;
  if (type === "BOOKMARK") {
    const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
    const annotations = isRecord(metadata["annotations"]) ? metadata["annotations"] : {};
    const resourceVersion = metadata["resourceVersion"];
    if (typeof resourceVersion !== "string" || resourceVersion === "") return null;
    return { type, resourceVersion, initialEnd: annotations["k8s.io/initial-events-end"] === "true" };
  }
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return null;
  const meta = objectMeta(object);
  return meta === null ? null : { type, meta, object };
}

/** Identity and version of an object; null without a UID. */
export function objectMeta(object: RawObject): ObjectMeta | null {
  const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
  const { uid, resourceVersion } = metadata;
  if (typeof uid !== "string" || uid === "" || uid.length > 256) return null;
  const version = typeof resourceVersion === "string" && resourceVersion !== "" ? resourceVersion : null;
  return { uid, resourceVersion: version };
}

export interface ListPage {
  readonly resourceVersion: string | null;
  /** Token of the next page; null on the last one. */
  readonly next: string | null;
  readonly items: readonly unknown[];
}

/** Parses one page of a list; null where it is none. */
export function parseListPage(body: unknown): ListPage | null {
  if (!isRecord(body)) return null;
  const items = body["items"] ?? [];
  if (!Array.isArray(items)) return null;
  const metadata = isRecord(body["metadata"]) ? body["metadata"] : {};
  const { resourceVersion, continue: next } = metadata;
  return {
    resourceVersion: typeof resourceVersion === "string" && resourceVersion !== "" ? resourceVersion : null,
    next: typeof next === "string" && next !== "" ? next : null,
    items,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
