import { errorCode, TrawlerError } from "@trawler/plugin-api";
import { deadline } from "../api/deadline.ts";
import { isRecord, statusError } from "../api/errors.ts";
import { parseWatchEvent, type WatchEvent } from "./event.ts";
import { byteLines, type CutLine } from "./lines.ts";
import { selectors, whenRoom } from "./list.ts";
import { scanCutLine, scanWatchLine } from "./scan.ts";
import type { ReflectorOptions } from "./types.ts";

/** What one watch reports while it runs. */
export interface WatchListener {
  opened(): void;
  event(event: WatchEvent): void;
  malformed(): void;
  /** A line over the bound; null where not even its identity can be kept. */
  oversized(event: WatchEvent | null): void;
}

/** How a watch that had begun came to its end. */
export type WatchEnd =
  | { readonly by: "end" | "idle" }
  /** There was no room for what it brings. */
  | { readonly by: "full" }
  /** The connection broke, or the server reported an error in the stream. */
  | { readonly by: "error"; readonly error: unknown };

/** A server that keeps talking beyond the time it was asked for is cut off after this. */
const OVERTIME = 30_000;
/** Milliseconds that a watch stays open unread. */
const ROOM_TIMEOUT = 10_000;

/**
 * Follows the collection from a version on until the stream ends, breaks, or is mute for too long. Throws only where
 * the watch could not be opened; never for a reason inside the stream.
 */
export async function watchFrom<T>(
  options: ReflectorOptions<T>,
  resourceVersion: string,
  listener: WatchListener,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const [from, to] = options.watchSeconds ?? [300, 600];
  const seconds = Math.round(from + (to - from) * (options.random ?? Math.random)());
  const what = `watch ${options.resource}`;
  // A watch that nobody reads only fills the server's buffers.
  await whenRoom(options.room, signal);
  using stream = await options.client.stream({
    what,
    path: options.path,
    query: {
      ...selectors(options),
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion,
      timeoutSeconds: String(seconds),
    },
    signal,
    timeout: options.requestTimeout ?? 30_000,
  });
  using whole = deadline(seconds * 1000 + OVERTIME, signal);
  using idle = deadline(options.idleTimeout ?? 90_000, whole.signal);
  const stop = (): void => stream[Symbol.dispose]();
  idle.signal.addEventListener("abort", stop, { once: true });
  listener.opened();
  try {
    const lines = byteLines(options.maxLineBytes ?? 8 * 1024 * 1024);
    for await (const chunk of stream.chunks) {
      idle.renew();
      for (const line of lines.push(chunk)) {
        if (signal.aborted) return { by: "end" };
        if (!Buffer.isBuffer(line)) listener.oversized(identify(line, options.raw !== undefined));
        else deliver(understand(line, options.raw !== undefined), what, listener);
      }
      // A server keeps what nobody reads, and then breaks off: better to say so, and to come back.
      const has = await whenRoom(options.room, idle.signal, options.roomTimeout ?? ROOM_TIMEOUT);
      if (!has && !idle.signal.aborted) return { by: "full" };
    }
    return { by: idle.expired() ? "idle" : "end" };
  } catch (error) {
    if (whole.expired() || signal.aborted) return { by: "end" };
    return idle.expired() ? { by: "idle" } : { by: "error", error };
  } finally {
    idle.signal.removeEventListener("abort", stop);
  }
}

/** One line as an event; null where it is none. With `raw` objects are not parsed. */
export function understand(line: Buffer, raw: boolean): WatchEvent | null {
  const scanned = raw ? scanWatchLine(line) : null;
  return scanned === null ? parseWatchEvent(line.toString("utf8")) : { type: scanned.type, ...scanned.object };
}

/** Only where bytes are kept: whoever asks for objects has no use for a name alone. */
export function identify({ head }: CutLine, raw: boolean): WatchEvent | null {
  const scanned = raw ? scanCutLine(head) : null;
  return scanned === null ? null : { type: scanned.type, ...scanned.object };
}

function deliver(event: WatchEvent | null, what: string, listener: WatchListener): void {
  if (event === null) {
    listener.malformed();
    return;
  }
  if (event.type !== "ERROR") {
    listener.event(event);
    return;
  }
  const code = isRecord(event.status) && typeof event.status["code"] === "number" ? event.status["code"] : 500;
  throw statusError(what, code, event.status, undefined);
}

/** An error as one of ours, with what was tried. */
export function asTrawlerError(what: string, error: unknown): { readonly code: string; readonly message: string } {
  const code = errorCode(error);
  if (error instanceof Error && code?.startsWith("TRAWLER_")) return { code, message: error.message };
  const broken = new TrawlerError("TRAWLER_UNAVAILABLE", `${what}: the connection broke (${code ?? "closed"})`);
  return { code: broken.code, message: broken.message };
}
