import { type Clock, TrawlerError } from "@trawler/plugin-api";
import { deadline } from "../api/deadline.ts";
import { apiStatus, isRecord, statusError } from "../api/errors.ts";
import type { WatchEvent } from "./event.ts";
import { byteLines } from "./lines.ts";
import { type CompleteList, listAll, type PageListener, readObject, readScanned, selectors, whenRoom } from "./list.ts";
import type { Entry } from "./store.ts";
import type { ReflectorOptions } from "./types.ts";
import { identify, understand } from "./watch.ts";

/** Seconds for which a server that does not serve it, or a way to it that cuts it, is not asked again. */
const VERDICT_SECONDS = 3600;
/** Seconds that the server may take for all of it. */
const WHOLE_SECONDS = 600;
/** What was deleted while the list came is told after it: at most so many bytes of it are kept. */
const ENDED_BYTES = 16 * 1024 * 1024;

/** Reads whole lists: as a stream where that is wanted and served, else in pages. */
export interface Lister<T> {
  read(streamed: boolean, signal: AbortSignal, onPage: PageListener<T>): Promise<CompleteList<T>>;
  /** Lists that came as a stream, and those that were begun as one and read in pages. */
  counts(): { readonly streamedLists: number; readonly refusedStreams: number };
}

export function createLister<T>(options: ReflectorOptions<T>, clock: Clock): Lister<T> {
  let askAgain = Number.NEGATIVE_INFINITY;
  let streamedLists = 0;
  let refusedStreams = 0;
  return {
    read: async (wanted, signal, onPage) => {
      if (wanted && options.streamingList === "auto" && clock.monotonic() >= askAgain) {
        const list = await streamList(options, signal, onPage);
        if (list !== null) {
          streamedLists += 1;
          return list;
        }
        refusedStreams += 1;
        askAgain = clock.monotonic() + VERDICT_SECONDS;
      }
      return listAll(options, signal, onPage);
    },
    counts: () => ({ streamedLists, refusedStreams }),
  };
}

/**
 * The collection as a watch that begins with all of it, up to the bookmark that says so; consistent, as it asks for no
 * version (https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists). Null where the server does
 * not serve it, or it broke before its end: then nothing may be concluded from what it lacks. Throws where the server
 * cannot be reached, is overloaded, or does not know us.
 */
async function streamList<T>(
  options: ReflectorOptions<T>,
  outer: AbortSignal,
  onPage: PageListener<T>,
): Promise<CompleteList<T> | null> {
  const what = `list ${options.resource} as a stream`;
  const timeout = options.requestTimeout ?? 30_000;
  using whole = deadline(WHOLE_SECONDS * 1000, outer);
  using idle = deadline(timeout, whole.signal);
  using stream = await options.client
    .stream({
      what,
      path: options.path,
      query: {
        ...selectors(options),
        watch: "true",
        allowWatchBookmarks: "true",
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
        timeoutSeconds: String(WHOLE_SECONDS),
      },
      signal: outer,
      timeout,
    })
    .catch((error: unknown) => {
      if (isRefusal(error)) return { chunks: null, [Symbol.dispose]: () => {} };
      throw error;
    });
  if (stream.chunks === null) return null;
  const stop = (): void => stream[Symbol.dispose]();
  idle.signal.addEventListener("abort", stop, { once: true });
  const taking = takeInitial(options, what, onPage);
  try {
    const lines = byteLines(options.maxLineBytes ?? 8 * 1024 * 1024);
    for await (const chunk of stream.chunks) {
      for (const line of lines.push(chunk)) {
        const raw = options.raw !== undefined;
        const event = Buffer.isBuffer(line) ? understand(line, raw) : identify(line, raw);
        const list = taking.take(event);
        if (list !== null) return list;
      }
      await whenRoom(options.room, idle.signal);
      // A server that does not know what it was asked for sends what exists, and then nothing.
      idle.renew();
    }
  } catch (error) {
    if (outer.aborted) throw error;
  } finally {
    idle.signal.removeEventListener("abort", stop);
  }
  outer.throwIfAborted();
  return null;
}

/** 4xx that tells of a request which the server, or our role, does not allow. */
function isRefusal(error: unknown): boolean {
  const status = apiStatus(error);
  return status !== null && status >= 400 && status < 500 && status !== 401 && status !== 429;
}

/** Gathers initial events in portions of a page; the list once its end has come. Throws for what no list can hold. */
function takeInitial<T>(
  options: ReflectorOptions<T>,
  what: string,
  onPage: PageListener<T>,
): { take(event: WatchEvent | null): CompleteList<T> | null } {
  const pageSize = options.pageSize ?? 500;
  const entries = new Map<string, Entry<T>>();
  const present = new Set<string>();
  const ended: WatchEvent[] = [];
  let endedBytes = 0;
  let page = new Map<string, Entry<T>>();
  let pages = 0;
  let malformed = 0;

  const turn = (): void => {
    pages += 1;
    onPage(null, page);
    if (options.byPage !== true) for (const [uid, entry] of page) entries.set(uid, entry);
    page = new Map();
  };

  return {
    take: (event) => {
      if (event === null) throw new TrawlerError("TRAWLER_LIMIT", `${what}: an object that cannot be read`);
      if (event.type === "ERROR") {
        const code = isRecord(event.status) && typeof event.status["code"] === "number" ? event.status["code"] : 500;
        throw statusError(what, code, event.status, undefined);
      }
      if (event.type === "BOOKMARK") {
        if (!event.initialEnd) return null;
        turn();
        return { resourceVersion: event.resourceVersion, present, entries, pages, malformed, ended };
      }
      if (event.type === "DELETED") {
        endedBytes += 256 + ("bytes" in event ? event.bytes.length : JSON.stringify(event.object).length);
        if (endedBytes > ENDED_BYTES) throw new TrawlerError("TRAWLER_LIMIT", `${what}: too many deletions meanwhile`);
        // Present for now: its end is told as an event, with what it carries.
        present.add(event.meta.uid);
        ended.push(event);
        return null;
      }
      const item = "bytes" in event ? readScanned(options, event) : readObject(options, event.object);
      if (item === null) malformed += 1;
      else {
        page.set(item.uid, item.entry);
        present.add(item.uid);
      }
      if (page.size >= pageSize) turn();
      return null;
    },
  };
}
