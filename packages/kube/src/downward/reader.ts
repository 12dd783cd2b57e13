import { errorCode, type StringMap } from "@trawler/plugin-api";
import type { DownwardItem } from "../pods/record.ts";
import { parseQuotedMap } from "./quoted.ts";

/** The node's files, opened safely by whoever has the right: kubelet folders hold what containers' users chose. */
export interface DownwardFiles {
  /** Whole text of a regular file; throws where it is absent, no regular file, or larger than the cap. */
  readText(path: string, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<string>;
  /** Names in a folder; empty where it is absent. */
  list(path: string, options: { readonly signal?: AbortSignal }): Promise<readonly string[]>;
}

/** What a pod's own downward API files say. */
export interface DownwardFacts {
  /** Null where no file gives them. */
  readonly labels: StringMap | null;
  readonly annotations: StringMap | null;
  /** Single fields by their path, such as `metadata.name` or `metadata.labels['app']`. */
  readonly fields: StringMap;
  /** Lines that could not be read. */
  readonly malformed: number;
}

export interface DownwardRequest {
  /** The kubelet's folder as `files` sees it, such as `/var/lib/kubelet`. */
  readonly kubeletRoot: string;
  /** The UID under which the kubelet keeps the pod: for a static pod its manifest's hash. */
  readonly podUid: string;
  /** The items of the last known specification; null without one: then only `labels` and `annotations` are read. */
  readonly items: readonly DownwardItem[] | null;
  readonly signal?: AbortSignal;
}

const MAX_BYTES = 512 * 1024;
const MAX_FILES = 64;
/** A file is replaced by a swap of links: between two looks it may be absent. */
const ATTEMPTS = 3;
const FOLDERS = { downward: "kubernetes.io~downward-api", projected: "kubernetes.io~projected" } as const;

/**
 * Reads a pod's downward API files; never a token: in projected volumes only what the specification names as such an
 * item, or the two files whose names say what they hold. Never throws but for the signal.
 */
export async function readDownward(files: DownwardFiles, request: DownwardRequest): Promise<DownwardFacts> {
  const { signal } = request;
  const fields: Record<string, string> = Object.create(null);
  let labels: StringMap | null = null;
  let annotations: StringMap | null = null;
  let malformed = 0;
  if (/^[0-9a-f-]{32,36}$/i.test(request.podUid)) {
    const items = request.items ?? (await guessItems(files, request));
    for (const item of items.slice(0, MAX_FILES)) {
      const path = pathOf(request, item);
      const text = path === null ? null : await readItem(files, path, signal);
      if (text === null) continue;
      if (item.field === "metadata.labels" || item.field === "metadata.annotations") {
        const parsed = parseQuotedMap(text);
        malformed += parsed.malformed;
        if (item.field === "metadata.labels") labels ??= parsed.values;
        else annotations ??= parsed.values;
      } else fields[item.field] ??= text;
    }
  }
  return { labels, annotations, fields, malformed };
}

async function guessItems(files: DownwardFiles, request: DownwardRequest): Promise<readonly DownwardItem[]> {
  const options = request.signal === undefined ? {} : { signal: request.signal };
  const items: DownwardItem[] = [];
  for (const projected of [false, true]) {
    const volumes = await files.list(folderOf(request, projected), options).catch(() => []);
    request.signal?.throwIfAborted();
    for (const volume of volumes.slice(0, MAX_FILES)) {
      items.push({ volume, projected, path: "labels", field: "metadata.labels" });
      items.push({ volume, projected, path: "annotations", field: "metadata.annotations" });
    }
  }
  return items;
}

async function readItem(files: DownwardFiles, path: string, signal: AbortSignal | undefined): Promise<string | null> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await files.readText(path, { maxBytes: MAX_BYTES, ...(signal === undefined ? {} : { signal }) });
    } catch (error) {
      const code = errorCode(error);
      if (code !== "TRAWLER_UNSUPPORTED" && code !== "TRAWLER_GONE" && code !== "ENOENT") return null;
    }
  }
  return null;
}

function folderOf(request: DownwardRequest, projected: boolean): string {
  const folder = projected ? FOLDERS.projected : FOLDERS.downward;
  return `${request.kubeletRoot.replace(/\/+$/, "")}/pods/${request.podUid}/volumes/${folder}`;
}

/** Null where volume or path would lead elsewhere: both are a user's text. */
function pathOf(request: DownwardRequest, item: DownwardItem): string | null {
  const parts = [item.volume, ...item.path.split("/")];
  const unsafe = item.volume.includes("/") || parts.some((part) => part === "" || part === "." || part === "..");
  return unsafe ? null : `${folderOf(request, item.projected)}/${parts.join("/")}`;
}
