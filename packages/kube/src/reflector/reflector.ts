import { TrawlerError } from "@trawler/plugin-api";
import { sleep as realSleep } from "../api/deadline.ts";
import { apiStatus, isAhead, isExpired, retryAfter } from "../api/errors.ts";
import { createBackoff } from "./backoff.ts";
import { driftOf, isMassDeletion } from "./compare.ts";
import type { WatchEvent } from "./event.ts";
import { guardHandler } from "./guard.ts";
import { type CompleteList, readObject, readScanned } from "./list.ts";
import { createStore, type Entry } from "./store.ts";
import { createLister } from "./streaming.ts";
import type { Away, Evidence, ListReason, Reflector, ReflectorOptions, RestartReason } from "./types.ts";
import { compareVersions, laterVersion } from "./version.ts";
import { asTrawlerError, type WatchEnd, watchFrom } from "./watch.ts";

/** Consecutive lists older than our position after which the server's history is taken to have gone back. */
const STALE_LISTS = 3;
/** Seconds that a server may say that our version is ahead of it before we list. */
const AHEAD_SECONDS = 60;
/** A watch that lived so many seconds was a healthy one. */
const HEALTHY_SECONDS = 10;
/** Milliseconds that what a server has sent may take to us: a bookmark tells of what was before it was sent. */
const IN_FLIGHT = 1000;
/** Longest pause, seconds, where the role or the kind is missing. */
const DENIED_CAP = 300;

/** Lists, then watches from there, for ever: `spec` of list and watch is https://kubernetes.io/docs/reference/using-api/api-concepts/. */
export function createReflector<T>(options: ReflectorOptions<T>): Reflector<T> {
  const { clock } = options;
  const pause = options.sleep ?? realSleep;
  const random = options.random ?? Math.random;
  const backoff = createBackoff(random);
  // Counted apart: a server that has just come up may deny for a moment what its role allows.
  const denials = createBackoff(random, DENIED_CAP);
  const stop = new AbortController();
  let fault: { readonly error: unknown } | null = null;
  const handler = guardHandler(options.handler, (error) => {
    fault ??= { error };
    stop.abort();
  });
  const store = createStore(handler, options.handler.removedUnseen !== undefined);
  const lister = createLister(options, clock);
  for (const { uid, resourceVersion, value } of options.known ?? []) {
    store.recall(uid, { version: resourceVersion, value });
  }
  const restarts: Record<RestartReason, number> = { end: 0, idle: 0, full: 0, expired: 0, error: 0, denied: 0 };
  const count = { lists: 0, listPages: 0, watches: 0, events: 0, bookmarks: 0 };
  const odd = { staleIgnored: 0, staleLists: 0, malformed: 0, oversized: 0, drift: 0 };
  let position: string | null = options.resume?.resourceVersion ?? null;
  let epoch = options.resume?.epoch ?? 0;
  let synced = false;
  let away: Away | null = null;
  let mustList = position === null;
  let reason: ListReason = "first";
  let staleInRow = 0;
  /** A list of a younger count is being taken: what it says goes, whatever was known. */
  let trusted = false;
  let aheadSince: number | null = null;
  // Neither an open watch nor an event tells it: what a server sends first may have happened long before.
  let asOf = options.resume?.asOf ?? clock.now();
  const relistAt = (): number =>
    clock.monotonic() + (options.relistEvery ?? Number.POSITIVE_INFINITY) * (0.9 + 0.2 * random());
  let nextRelist = relistAt();

  const goneAway = (what: string, error: unknown): void => {
    const { code, message } = asTrawlerError(what, error);
    if (away?.reason === message) return;
    away = { since: away?.since ?? clock.now(), code, reason: message };
    handler.away(away);
  };

  /** Judges a list by its version, before anything of it is used. */
  const begin = (version: string): void => {
    if (compareVersions(version, position) !== -1) return;
    odd.staleLists += 1;
    staleInRow += 1;
    if (staleInRow < STALE_LISTS) {
      throw new TrawlerError("TRAWLER_RETRY", `list ${options.resource}: the answer is older than what is known`);
    }
    staleInRow = 0;
    position = version;
    trusted = true;
    reason = "restore";
    epoch += 1;
    handler.epoch(epoch);
  };

  const takeItems = (version: string | null, entries: ReadonlyMap<string, Entry<T>>): void => {
    if (version !== null) begin(version);
    const now = clock.now();
    for (const [uid, entry] of entries) {
      if (store.item(uid, entry, now, trusted) === "stale") odd.staleIgnored += 1;
    }
  };

  const takeList = async (signal: AbortSignal): Promise<void> => {
    const fromVersion = position;
    const from = asOf;
    // What a safety list shows of the time before our position, the watch should have told.
    const told = reason === "safety" ? position : null;
    // What a stream says is told before its version is known: a server that is older than we is asked for pages.
    let asked = clock.now();
    let list = await read(reason !== "safety" && staleInRow === 0, signal, told);
    if (isMassDeletion(store.entries, list.present)) {
      asked = clock.now();
      list = await read(false, signal, told);
    }
    begin(list.resourceVersion);
    staleInRow = 0;
    const now = clock.now();
    const evidence: Evidence = {
      by: "relist",
      exact: false,
      notBefore: from,
      notAfter: now,
      resourceVersion: list.resourceVersion,
    };
    if (options.byPage === true) store.removeAbsent(list.present, evidence);
    else odd.staleIgnored += store.replace(list.entries, now, evidence, trusted);
    position = list.resourceVersion;
    asOf = asked;
    mustList = false;
    trusted = false;
    const taken = reason;
    reason = "expired";
    handler.listed({ reason: taken, resourceVersion: list.resourceVersion, fromVersion, from, to: now, asOf });
    for (const event of list.ended) take(event);
    becomeSynced();
  };

  const becomeSynced = (): void => {
    if (synced) return;
    synced = true;
    handler.synced();
  };

  const read = async (streamed: boolean, signal: AbortSignal, told: string | null): Promise<CompleteList<T>> => {
    count.lists += 1;
    const list = await lister.read(streamed, signal, (version, entries) => {
      if (told !== null) odd.drift += driftOf(store.entries, entries, told);
      if (options.byPage === true) takeItems(version, entries);
    });
    nextRelist = relistAt();
    count.listPages += list.pages;
    odd.malformed += list.malformed;
    return list;
  };

  const take = (event: WatchEvent): void => {
    if (event.type === "ERROR") return;
    if (event.type === "BOOKMARK") {
      count.bookmarks += 1;
      position = laterVersion(position, event.resourceVersion);
      asOf = clock.now() - IN_FLIGHT;
      handler.position(event.resourceVersion, asOf);
      return;
    }
    count.events += 1;
    const { meta } = event;
    if (meta.resourceVersion !== null) position = laterVersion(position, meta.resourceVersion);
    const item = "bytes" in event ? readScanned(options, event) : readObject(options, event.object);
    const now = clock.now();
    if (event.type === "DELETED") {
      const evidence: Evidence = {
        by: "watch",
        exact: item !== null,
        notBefore: now,
        notAfter: now,
        resourceVersion: meta.resourceVersion,
      };
      if (!store.remove(meta, item?.entry.value ?? null, evidence)) odd.staleIgnored += 1;
      return;
    }
    if (item === null) {
      odd.malformed += 1;
      return;
    }
    const applied = store.put(meta, item.entry.value, now);
    if (applied === "stale" || applied === "same") odd.staleIgnored += 1;
  };

  const listener = {
    opened: (): void => {
      aheadSince = null;
      becomeSynced();
      if (away === null) return;
      away = null;
      handler.back();
    },
    event: take,
    malformed: (): void => {
      odd.malformed += 1;
    },
    oversized: (event: WatchEvent | null): void => {
      odd.oversized += 1;
      if (event !== null) take(event);
    },
  };

  /** One watch; milliseconds to wait after it. */
  const follow = async (from: string, signal: AbortSignal): Promise<number> => {
    const begun = clock.monotonic();
    count.watches += 1;
    const end: WatchEnd = await watchFrom(options, from, listener, signal);
    const healthy = clock.monotonic() - begun >= HEALTHY_SECONDS;
    if (healthy || (end.by === "end" && position !== from)) backoff.reset();
    denials.reset();
    if (end.by === "error") {
      if (isExpired(end.error) || isAhead(end.error) || apiStatus(end.error) !== null) throw end.error;
      restarts.error += 1;
      return backoff.next();
    }
    restarts[end.by] += 1;
    // A mute connection may have swallowed anything: compare with a list.
    if (end.by === "idle" && options.resumeIdle !== true) {
      mustList = true;
      reason = "idle";
    } else if (end.by === "end" && clock.monotonic() >= nextRelist) {
      mustList = true;
      reason = "safety";
    }
    return backoff.next();
  };

  /** Milliseconds to wait after a failure, and what it means for the next attempt. */
  const failed = (what: string, error: unknown): number => {
    if (isAhead(error)) {
      aheadSince ??= clock.monotonic();
      if (clock.monotonic() - aheadSince > AHEAD_SECONDS) mustList = true;
    } else if (isExpired(error)) {
      restarts.expired += 1;
      mustList = true;
      reason = "expired";
      return backoff.next();
    }
    const status = apiStatus(error);
    const denied = status === 401 || status === 403;
    restarts[denied ? "denied" : "error"] += 1;
    goneAway(what, error);
    const missing = status === 403 || status === 404;
    if (!missing) denials.reset();
    const wait = (missing ? denials : backoff).next();
    return Math.max(wait, (retryAfter(error) ?? 0) * 1000 * (1 + random() * 0.1));
  };

  return {
    run: async (outer) => {
      const forward = (): void => stop.abort(outer.reason);
      outer.addEventListener("abort", forward, { once: true });
      if (outer.aborted) forward();
      const { signal } = stop;
      try {
        while (!signal.aborted) {
          let what = `list ${options.resource}`;
          let wait = 0;
          try {
            if (mustList || position === null) await takeList(signal);
            if (signal.aborted || position === null) break;
            what = `watch ${options.resource}`;
            wait = await follow(position, signal);
          } catch (error) {
            if (signal.aborted) break;
            wait = failed(what, error);
          }
          await pause(wait, signal);
        }
      } finally {
        outer.removeEventListener("abort", forward);
      }
      if (fault !== null) throw fault.error;
    },
    snapshot: () => ({
      state: away === null ? (synced ? "synced" : "starting") : "away",
      listing: mustList && reason !== "safety",
      away,
      resourceVersion: position,
      objects: store.entries.size,
      ...count,
      ...lister.counts(),
      restarts: { ...restarts },
      ...odd,
      epoch,
    }),
    get: (uid) => store.entries.get(uid)?.value,
    values: function* () {
      for (const entry of store.entries.values()) yield entry.value;
    },
  };
}
