import { errorCode, TrawlerError } from "@trawler/plugin-api";
import { isExpired, isRecord } from "../api/errors.ts";
import { type AnswerRoom, wholeAnswer } from "../api/whole.ts";
import { objectMeta, parseListPage, type WatchEvent } from "./event.ts";
import { type ScannedObject, scanListPage } from "./scan.ts";
import type { Entry } from "./store.ts";
import type { ReflectorOptions } from "./types.ts";

/** Told of each page as it arrives, and of the list's version where that is known already; a throw ends the list. */
export type PageListener<T> = (resourceVersion: string | null, entries: ReadonlyMap<string, Entry<T>>) => void;

export interface CompleteList<T> {
  readonly resourceVersion: string;
  /** All of its UIDs. */
  readonly present: ReadonlySet<string>;
  /** Empty with `byPage`: the pages were told. */
  readonly entries: ReadonlyMap<string, Entry<T>>;
  /** Deletions that came with it, not told yet. */
  readonly ended: readonly WatchEvent[];
  readonly pages: number;
  readonly malformed: number;
}

/** After so many expired continue tokens the list is asked for in one piece. */
const PAGED_ATTEMPTS = 2;

/**
 * Reads the whole collection, page by page; all or nothing. Without a resourceVersion, so that it is consistent (and
 * `limit` counts). Each object is cut down to what is kept before the next page is asked for.
 */
export async function listAll<T>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
  onPage?: PageListener<T>,
): Promise<CompleteList<T>> {
  let pageSize = options.pageSize ?? 500;
  for (let attempt = 1; ; ) {
    try {
      return await listOnce(options, signal, attempt <= PAGED_ATTEMPTS ? pageSize : null, onPage);
    } catch (error) {
      // Large objects: fewer of them fit into an answer that is not too long.
      if (errorCode(error) === "TRAWLER_LIMIT" && pageSize > 1) pageSize = Math.ceil(pageSize / 8);
      else if (isExpired(error) && attempt <= PAGED_ATTEMPTS) attempt += 1;
      else throw error;
    }
  }
}

async function listOnce<T>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
  pageSize: number | null,
  onPage: PageListener<T> | undefined,
): Promise<CompleteList<T>> {
  const what = `list ${options.resource}`;
  const entries = new Map<string, Entry<T>>();
  const present = new Set<string>();
  let version: string | null = null;
  let next: string | null = null;
  let pages = 0;
  let malformed = 0;
  // Page by page nothing of a page is needed once it was reported.
  const room: AnswerRoom | undefined = options.byPage === true ? { bytes: Buffer.alloc(0) } : undefined;
  do {
    const request: PageRequest = {
      what,
      path: options.path,
      query: {
        ...selectors(options),
        ...(pageSize === null ? {} : { limit: String(pageSize) }),
        ...(next === null ? {} : { continue: next }),
      },
      signal,
      timeout: options.requestTimeout ?? 30_000,
      maxBytes: options.maxPageBytes ?? 128 * 1024 * 1024,
    };
    const page: ReadPage<T> | null = await readPage(options, request, room);
    if (page?.resourceVersion == null) throw new TrawlerError("TRAWLER_UNAVAILABLE", `${what}: the answer is no list`);
    if (page.next !== null && page.next === next) {
      throw new TrawlerError("TRAWLER_UNAVAILABLE", `${what}: the server repeats a page`);
    }
    pages += 1;
    version = page.resourceVersion;
    next = page.next;
    const read = new Map<string, Entry<T>>();
    for (const item of page.items) {
      if (item === null) malformed += 1;
      else read.set(item.uid, item.entry);
    }
    onPage?.(version, read);
    for (const [uid, entry] of read) {
      present.add(uid);
      if (options.byPage !== true) entries.set(uid, entry);
    }
    await whenRoom(options.room, signal);
  } while (next !== null);
  return { resourceVersion: version, present, entries, pages, malformed, ended: [] };
}

type PageRequest = Parameters<typeof wholeAnswer>[1];

interface ReadItem<T> {
  readonly uid: string;
  readonly entry: Entry<T>;
}

interface ReadPage<T> {
  readonly resourceVersion: string | null;
  readonly next: string | null;
  /** Null stands for one that is not to be understood. */
  readonly items: readonly (ReadItem<T> | null)[];
}

async function readPage<T>(
  options: ReflectorOptions<T>,
  request: PageRequest,
  room: AnswerRoom | undefined,
): Promise<ReadPage<T> | null> {
  if (options.raw === undefined) {
    const page = parseListPage(await options.client.get(request));
    return page === null ? null : { ...page, items: page.items.map((item) => readObject(options, item)) };
  }
  const page = scanListPage(await wholeAnswer(options.client, request, room));
  if (page === null) return null;
  return { ...page, items: page.items.map((item) => (item === null ? null : readScanned(options, item))) };
}

/** As `readObject`, of an object that was not parsed. */
export function readScanned<T>(
  options: Pick<ReflectorOptions<T>, "raw">,
  { meta, bytes }: ScannedObject,
): ReadItem<T> | null {
  try {
    const value = options.raw?.(bytes, meta) ?? null;
    return value === null ? null : { uid: meta.uid, entry: { version: meta.resourceVersion, value } };
  } catch {
    return null;
  }
}

/** Identity, version and kept value of one raw object; null where it is not to be understood. */
export function readObject<T>(options: Pick<ReflectorOptions<T>, "transform">, item: unknown): ReadItem<T> | null {
  const meta = isRecord(item) ? objectMeta(item) : null;
  if (meta === null || !isRecord(item)) return null;
  try {
    const value = options.transform(item, meta);
    return value === null ? null : { uid: meta.uid, entry: { version: meta.resourceVersion, value } };
  } catch {
    return null;
  }
}

/** Waits while there is no room, at most until the signal aborts, or so many milliseconds. False where there is none then. */
export async function whenRoom(
  room: (() => Promise<void> | null) | undefined,
  signal: AbortSignal,
  most?: number,
): Promise<boolean> {
  const wait = room?.() ?? null;
  if (wait === null || signal.aborted) return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = (): void => resolve(false);
  const timer = most === undefined ? null : setTimeout(stop, most);
  signal.addEventListener("abort", stop, { once: true });
  const has = await Promise.race([wait.then(() => true), promise]);
  signal.removeEventListener("abort", stop);
  if (timer !== null) clearTimeout(timer);
  return has;
}

/** The selectors as query parameters. */
export function selectors<T>(options: ReflectorOptions<T>): Readonly<Record<string, string>> {
  return {
    ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
  };
}
