import type { Clock } from "@trawler/plugin-api";
import type { ApiClient } from "../api/client.ts";
import type { Sleep } from "../api/deadline.ts";
import type { ObjectMeta, RawObject } from "./event.ts";

/** How it is known that an object has gone. */
export interface Evidence {
  /** `watch`: the server said so; `relist`: it is absent from a later complete list. */
  readonly by: "watch" | "relist";
  /** Whether the final state is the object's last, or only the last that we saw. */
  readonly exact: boolean;
  /** Wall clock, milliseconds: it was alive then, and it was gone then. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The version of the deletion, where known. */
  readonly resourceVersion: string | null;
}

/** Why the server's state is not known at present. */
export interface Away {
  /** Wall clock, milliseconds. */
  readonly since: number;
  readonly code: string;
  /** One line for people: what was tried, what came back. */
  readonly reason: string;
}

/** Why a whole list was read: the first, an expired position, a mute watch, a server gone back in time, or `relistEvery`. */
export type ListReason = "first" | "expired" | "idle" | "restore" | "safety";

/** A complete list that has been reported. */
export interface TakenList {
  readonly reason: ListReason;
  readonly resourceVersion: string;
  /** The position before it; null where there was none. */
  readonly fromVersion: string | null;
  /** Wall clock, milliseconds: nothing that happened before `from` was missed; `to` is its end. */
  readonly from: number;
  readonly to: number;
  /** When it was asked for: what happened until then is in it. */
  readonly asOf: number;
}

/** Where an object stood. */
export type Origin = "list" | "watch";

/** Called in order, synchronously. `observedAt` is our wall clock in milliseconds when the object arrived. */
export interface ReflectorHandler<T> {
  added(value: T, observedAt: number, origin: Origin): void;
  updated(value: T, observedAt: number, previous: T, origin: Origin): void;
  removed(final: T, evidence: Evidence): void;
  /** The server says that an object is gone which was never reported. */
  removedUnseen?(final: T, evidence: Evidence): void;
  /** A bookmark moved the position. Wall clock, milliseconds: what happened until then has been reported. */
  position?(resourceVersion: string, asOf: number): void;
  /** The server's versions went back: what follows belongs to a new count. Called before it. */
  epoch?(epoch: number): void;
  /** A complete list has been reported, removals included. */
  listed?(list: TakenList): void;
  /** The first complete list has been reported. Once. */
  synced?(): void;
  /** The server's state is unknown from now on; called again only when the reason changes. */
  away?(away: Away): void;
  /** It is known again, and all changes since have been reported. */
  back?(): void;
}

/** Where an earlier run stood: a watch from there needs no list. */
export interface ResumePoint {
  readonly resourceVersion: string;
  readonly epoch: number;
  /** Wall clock, milliseconds: nothing that happened before was missed. */
  readonly asOf: number;
}

/** What an earlier run knew, so that a first list can tell what has gone since. */
export interface KnownObject<T> {
  readonly uid: string;
  readonly resourceVersion: string | null;
  readonly value: T;
}

export type RestartReason = "end" | "idle" | "full" | "expired" | "error" | "denied";

export interface ReflectorSnapshot {
  readonly state: "starting" | "synced" | "away";
  /** What is known may lag behind: a list is needed first. */
  readonly listing: boolean;
  readonly away: Away | null;
  readonly resourceVersion: string | null;
  readonly objects: number;
  readonly lists: number;
  readonly listPages: number;
  /** Lists that came as a stream, and those that the server did not give, or not whole, as one. */
  readonly streamedLists: number;
  readonly refusedStreams: number;
  readonly watches: number;
  /** Watches that were begun anew, by cause. */
  readonly restarts: Readonly<Record<RestartReason, number>>;
  readonly events: number;
  readonly bookmarks: number;
  /** Events and list items older than what was known. */
  readonly staleIgnored: number;
  /** Lists older than our position, which were not used. */
  readonly staleLists: number;
  /** Lines and objects that could not be understood. */
  readonly malformed: number;
  /** Lines longer than the bound. */
  readonly oversized: number;
  /** How often the server's versions went back (a restored etcd). */
  readonly epoch: number;
  /** What safety lists showed that the watch should have told: not 0 means a fault here or in the server. */
  readonly drift: number;
}

export interface ReflectorOptions<T> {
  readonly client: ApiClient;
  /** Path of the collection, such as `/api/v1/pods`. */
  readonly path: string;
  /** Plural name for messages, such as `pods`. */
  readonly resource: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Makes what is kept of an object, at once; null sets it aside as malformed. */
  transform(object: RawObject, meta: ObjectMeta): T | null;
  /**
   * Asked instead of `transform`, with the object's bytes as they came, but for its managed fields: nothing but its
   * identity is parsed then. The bytes may be no JSON. They are a part of a larger buffer, and with `byPage` that of a
   * list is used again for its next page: copy what is to stay. Of a line over the bound it is asked with an object of
   * nothing but its identity, and `meta.truncated`.
   */
  raw?(bytes: Uint8Array, meta: ObjectMeta): T | null;
  readonly handler: ReflectorHandler<T>;
  readonly clock: Clock;
  readonly random?: () => number;
  readonly sleep?: Sleep;
  /** Objects a page; default 500. */
  readonly pageSize?: number;
  /**
   * `auto`: ask for the first list, and for one after a gap, as a stream; in pages where the server does not give it,
   * and then for an hour. Default `off`.
   */
  readonly streamingList?: "auto" | "off";
  /** Seconds that the server is asked to keep a watch open, from and to; default 300 to 600. */
  readonly watchSeconds?: readonly [number, number];
  /** Milliseconds without a byte after which a watch is held for dead; default 90,000 (bookmarks come each 60 s). */
  readonly idleTimeout?: number;
  /** Milliseconds that one request may take; default 30,000. */
  readonly requestTimeout?: number;
  /** Begin with a watch from here; a list only where the server has forgotten it. */
  readonly resume?: ResumePoint;
  readonly known?: Iterable<KnownObject<T>>;
  /** Report the items of a list page by page, before the list is complete; removals still wait for all of it. */
  readonly byPage?: boolean;
  /** Take a mute watch up again where it stood, without a list. */
  readonly resumeIdle?: boolean;
  /** Asked before more is read: a promise = wait for it. */
  readonly room?: () => Promise<void> | null;
  /** Milliseconds of such a wait after which the watch is ended, to be taken up where it stood; default 10,000. */
  readonly roomTimeout?: number;
  /** Seconds after which a whole list is read though nothing calls for it, to find what was missed; default never. */
  readonly relistEvery?: number;
  readonly maxLineBytes?: number;
  readonly maxPageBytes?: number;
}

/** Keeps a copy of a collection in step with the server, and reports what changes. */
export interface Reflector<T> {
  /** Runs until the signal aborts; never throws for what a server does. Call once. */
  run(signal: AbortSignal): Promise<void>;
  snapshot(): ReflectorSnapshot;
  get(uid: string): T | undefined;
  values(): IterableIterator<T>;
}
