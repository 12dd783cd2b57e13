import {
  type ApiClient,
  createReflector,
  type Evidence,
  type KnownObject,
  type Origin,
  type Reflector,
  type ReflectorOptions,
  type ReflectorSnapshot,
  type ResumePoint,
  type TakenList,
} from "@trawler/kube";
import type { Clock } from "@trawler/plugin-api";
import type { GapReason, InventoryEvent } from "../events.ts";
import type { KindSpec } from "./kinds.ts";
import type { Held } from "./object.ts";

/** Seconds between two lists that nothing calls for. */
const SAFETY_LIST = 6 * 3600;

/** Seconds for which a server remembers at most what it told (etcd compacts each 5 minutes). */
const SERVER_MEMORY = 300;

/** Settings of list and watch that tests turn down. */
export type ReflectorTuning = Partial<
  Pick<
    ReflectorOptions<Held>,
    | "pageSize"
    | "relistEvery"
    | "streamingList"
    | "roomTimeout"
    | "watchSeconds"
    | "idleTimeout"
    | "requestTimeout"
    | "maxLineBytes"
    | "maxPageBytes"
    | "random"
    | "sleep"
  >
>;

export interface KindReaderOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly spec: KindSpec;
  /** Where the store stands; null = nothing was ever complete. */
  readonly resume: ResumePoint | null;
  readonly known: Iterable<KnownObject<Held>>;
  /** Takes an event at once; what it cannot make durable it keeps. */
  readonly append: (event: InventoryEvent) => void;
  readonly room: () => Promise<void> | null;
  /** Nothing becomes durable at present: the disk, or the queue's share of it, is full. */
  readonly isFull: () => boolean;
  readonly tuning?: ReflectorTuning;
}

export interface KindStatus {
  readonly stream: string;
  readonly kind: string;
  readonly required: boolean;
  /** Synced = every change up to the position was received, and the watch is open. */
  readonly state: "starting" | "synced" | "away";
  /** Why it is away; else null. */
  readonly reason: string | null;
  readonly gaps: Readonly<Partial<Record<GapReason, number>>>;
  readonly events: Readonly<Record<"added" | "modified" | "deleted" | "listed" | "absent", number>>;
  readonly reflector: ReflectorSnapshot;
}

/** Follows one kind, and does nothing but append what it receives. */
export interface KindReader {
  /** Until the signal aborts. Rejects only where an event could not be taken. */
  run(signal: AbortSignal): Promise<void>;
  status(): KindStatus;
  /** Whether it exists, as far as the watch tells. */
  has(uid: string): boolean;
  /** Count of the server's histories, for an object that was read on request. */
  readonly epoch: number;
}

export function createKindReader(options: KindReaderOptions): KindReader {
  const { client, clock, spec, resume, append } = options;
  const { stream, kind } = spec;
  const counts = { added: 0, modified: 0, deleted: 0, listed: 0, absent: 0 };
  const gaps: Partial<Record<GapReason, number>> = {};
  let epoch = resume?.epoch ?? 0;
  /** Something arrived in this run: a later loss is one of the connection, not of the start. */
  let inContact = false;
  /** Monotonic seconds until which reading stood still because the queue was full. */
  let fullUntil = Number.NEGATIVE_INFINITY;

  const room = (): Promise<void> | null => {
    const wait = options.room();
    if (wait === null || !options.isFull()) return wait;
    return wait.then(() => {
      fullUntil = clock.monotonic();
    });
  };

  /** Appends the object, and lets go of its bytes. */
  const hand = (held: Held, type: "added" | "modified" | "deleted" | "listed", at: number, version?: string | null) => {
    counts[type] += 1;
    if (type !== "listed") inContact = true;
    append({
      stream,
      receivedAt: at,
      epoch,
      type,
      kind,
      uid: held.uid,
      resourceVersion: version ?? held.resourceVersion,
      payload: held.payload ?? new Uint8Array(0),
      ...(held.truncated === true ? { truncated: true } : {}),
    });
    held.payload = null;
  };

  const removed = (final: Held, evidence: Evidence): void => {
    const at = evidence.notAfter;
    if (evidence.by === "watch") {
      hand(final, "deleted", at, evidence.resourceVersion);
      return;
    }
    const { notBefore, notAfter, resourceVersion } = evidence;
    counts.absent += 1;
    const common = { stream, receivedAt: at, epoch };
    append({ ...common, type: "absent", kind, uid: final.uid, resourceVersion, notBefore, notAfter });
  };

  const listed = (list: TakenList): void => {
    const { resourceVersion, fromVersion, from, to, asOf } = list;
    const wasFull = clock.monotonic() - fullUntil < SERVER_MEMORY;
    const reason = gapReason(list, inContact, wasFull);
    inContact = true;
    const common = { stream, receivedAt: to, epoch };
    if (reason !== null) {
      gaps[reason] = (gaps[reason] ?? 0) + 1;
      const note = NOTES[reason];
      append({ ...common, type: "gap", kind, reason, from, to, fromVersion, toVersion: resourceVersion, note });
    }
    append({ ...common, type: "synced", resourceVersion, asOf });
  };

  const reflector: Reflector<Held> = createReflector<Held>({
    client,
    clock,
    path: spec.path,
    resource: stream,
    byPage: true,
    resumeIdle: true,
    room,
    known: options.known,
    ...(resume === null ? {} : { resume }),
    ...options.tuning,
    relistEvery: SAFETY_LIST,
    // Never asked: what is not parsed here is parsed, and cut down, in the writer's thread.
    transform: () => null,
    raw: (bytes, meta) => ({ ...meta, payload: bytes }),
    handler: {
      added: (held, at, origin) => hand(held, typeOf(origin, "added"), at),
      updated: (held, at, _previous, origin) => hand(held, typeOf(origin, "modified"), at),
      removed,
      removedUnseen: removed,
      position: (resourceVersion, asOf) => {
        inContact = true;
        append({ stream, receivedAt: clock.now(), epoch, type: "bookmark", resourceVersion, asOf });
      },
      epoch: (count) => {
        epoch = count;
      },
      listed,
    },
  });

  return {
    run: (signal) => reflector.run(signal),
    status: () => {
      const snapshot = reflector.snapshot();
      return {
        stream,
        kind,
        required: spec.required,
        state: snapshot.state === "synced" && snapshot.listing ? "starting" : snapshot.state,
        reason: snapshot.away?.reason ?? null,
        gaps: { ...gaps },
        events: { ...counts },
        reflector: snapshot,
      };
    },
    has: (uid) => reflector.get(uid) !== undefined,
    get epoch() {
      return epoch;
    },
  };
}

function typeOf(origin: Origin, watched: "added" | "modified"): "added" | "modified" | "listed" {
  return origin === "list" ? "listed" : watched;
}

const NOTES: Readonly<Record<GapReason, string>> = {
  expired: "the server had forgotten our position: what came and went since was not seen",
  idle: "the watch was mute: what came and went since was not seen",
  restart: "the collector was away for longer than the server remembers: what came and went since was not seen",
  restore: "the server's versions went back, as after a restored etcd: what it lost is not known",
  overflow: "the queue was full: what came and went since was not seen",
};

/** Null for the very first list of a kind: before it there is nothing that could have been missed. */
function gapReason({ reason, fromVersion }: TakenList, inContact: boolean, wasFull: boolean): GapReason | null {
  if (reason === "restore") return "restore";
  // The watch had told everything until then, and goes on from there.
  if (reason === "safety") return null;
  if (fromVersion === null) return null;
  if (reason === "idle") return "idle";
  if (!inContact) return "restart";
  return wasFull ? "overflow" : "expired";
}
