import { join } from "node:path";
import type { ApiClient, ClockSkew } from "@trawler/kube";
import { type Clock, errorMessage, type Logger, TrawlerError } from "@trawler/plugin-api";
import type { GapEvent, InventoryEvent } from "../events.ts";
import { openQueue } from "../queue/open.ts";
import type { DurableQueue, QueueStatus } from "../queue/queue.ts";
import type { PostgresqlSettings } from "../store/postgresql/settings.ts";
import type { Retention, SqliteStoreReader, StoreReader } from "../store/store.ts";
import { openAnyReader } from "../store/target.ts";
import { openWriter } from "../writer/open.ts";
import type { Writer, WriterStatus } from "../writer.ts";
import { searchGap } from "./evidence.ts";
import type { KindSpec } from "./kinds.ts";
import { createLagMeter, type LagObserver } from "./lag.ts";
import type { Held } from "./object.ts";
import { createKindReader, type KindReader, type KindStatus, type ReflectorTuning } from "./reader.ts";
import { type RefreshTarget, readObjectEvent } from "./refresh.ts";
import { keepSkew } from "./skew.ts";

/** Names of the two files in the state folder; the second is read by others too. */
const QUEUE_FILE = "queue.db";
export const STORE_FILE = "inventory.db";

export interface CollectorOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly cluster: string;
  /** Holds the queue, and the store where that is SQLite; it exists. */
  readonly folder: string;
  /** Absent = SQLite, in the folder. */
  readonly postgresql?: PostgresqlSettings;
  readonly kinds: readonly KindSpec[];
  /** The right to write; 0 without a Lease. */
  readonly token: number;
  readonly flushMilliseconds: number;
  readonly flushEvents: number;
  readonly flushBytes: number;
  readonly queueBytes: number;
  readonly retention: Retention;
  readonly lag?: LagObserver;
  readonly tuning?: ReflectorTuning;
}

export interface CollectorStatus {
  readonly kinds: readonly KindStatus[];
  readonly queue: QueueStatus;
  readonly writer: WriterStatus;
  /** Durable events that are not in the store. */
  readonly depth: number;
  /** Seconds that the oldest of them has waited. */
  readonly waiting: number;
  /** How far the server's clock is from ours; null before its first answer. Nothing is decided by it. */
  readonly clockSkew: ClockSkew | null;
  /** Null = ready, else why not. */
  readonly unready: string | null;
}

/** Readers, queue and writer of one cluster. */
export interface Collector<S extends StoreReader = SqliteStoreReader> extends AsyncDisposable {
  readonly store: S;
  readonly writer: Writer;
  readonly queue: DurableQueue;
  /** Until the signal aborts; rejects where it cannot go on, with TRAWLER_BUSY where another writer has taken over. */
  run(signal: AbortSignal): Promise<void>;
  status(): CollectorStatus;
  /** Reads one object anew; resolves with its UID when it can be asked for. */
  refresh(target: RefreshTarget, signal: AbortSignal): Promise<string>;
}

/** Seconds that events may wait for the store before the collector is no longer ready. */
const LAG_LIMIT = 30;

/** Opens queue and store, brings the store up to what the queue holds, and gets ready to go on from there. */
export function openCollector(
  options: CollectorOptions & { readonly postgresql?: never },
): Promise<Collector<SqliteStoreReader>>;
export function openCollector(options: CollectorOptions): Promise<Collector<StoreReader>>;
export async function openCollector(options: CollectorOptions): Promise<Collector<StoreReader>> {
  await using stack = new AsyncDisposableStack();
  const { clock, folder, cluster } = options;
  const queue = stack.use(await openQueue({ file: join(folder, QUEUE_FILE), maxBytes: options.queueBytes }));
  const target = options.postgresql ?? join(folder, STORE_FILE);
  const writer = stack.use(
    await openWriter({
      queue,
      store: target,
      cluster,
      token: options.token,
      flushMilliseconds: options.flushMilliseconds,
      flushEvents: options.flushEvents,
      flushBytes: options.flushBytes,
      retention: options.retention,
    }),
  );
  // What an earlier run had received and not applied comes first: only then the store tells where to go on.
  await writer.flush(queue.status().durable);
  const store = stack.use(await openAnyReader(target));
  stack.use(keepSkew(folder, options.client, clock));
  const own = stack.move();
  const lag = createLagMeter(clock.monotonic, options.lag ?? null);
  writer.onApplied(({ applied }) => lag.applied(applied));
  const failing = new AbortController();

  const stopping = new AbortController();
  const searches = new Set<Promise<void>>();
  const search = (gap: GapEvent): void => {
    const { client, log } = options;
    const isLive = (uid: string): boolean => readers.some(([spec, reader]) => spec.kind === "Pod" && reader.has(uid));
    const appendAll = async (events: readonly InventoryEvent[]): Promise<void> =>
      writer.flush(await queue.append(events));
    const one = searchGap({ client, log, store, now: clock.now, isLive, append: appendAll }, gap, stopping.signal);
    searches.add(one.finally(() => searches.delete(one)));
  };

  const append = (event: InventoryEvent): void => {
    if (event.type === "gap" && event.kind === "Pod") search(event);
    const at = clock.monotonic();
    queue.append([event]).then(
      (sequence) => lag.durable(sequence, at),
      (error: unknown) => failing.abort(error),
    );
  };

  const prepare = async (spec: KindSpec): Promise<[KindSpec, KindReader]> => {
    const position = await store.position(spec.stream);
    const resume = position && {
      resourceVersion: position.resourceVersion,
      epoch: position.epoch,
      asOf: position.asOf,
    };
    const live = await store.known(spec.kind);
    const known = (function* () {
      for (const one of live) {
        const value: Held = { ...one, payload: null };
        yield { ...one, value };
      }
    })();
    const room = (): Promise<void> | null => queue.room();
    const isFull = (): boolean => queue.status().fault !== null;
    const { client, tuning } = options;
    const reader = { client, clock, spec, resume, known, append, room, isFull, ...(tuning && { tuning }) };
    return [spec, createKindReader(reader)];
  };
  const readers: [KindSpec, KindReader][] = [];
  for (const spec of options.kinds) readers.push(await prepare(spec));

  const watchWriter = (): void => {
    const { fault, faultCode } = writer.status();
    if (faultCode === "TRAWLER_BUSY") failing.abort(new TrawlerError("TRAWLER_BUSY", fault ?? "another writer"));
  };
  writer.onApplied(watchWriter);

  return {
    store,
    writer,
    queue,
    run: async (signal) => {
      const both = AbortSignal.any([signal, failing.signal]);
      await Promise.all(
        readers.map(async ([, reader]) => {
          try {
            await reader.run(both);
          } catch (error) {
            failing.abort(error);
          }
        }),
      );
      if (failing.signal.aborted) throw failing.signal.reason;
    },
    status: () => {
      const kinds = readers.map(([, reader]) => reader.status());
      const queued = queue.status();
      const written = writer.status();
      const waiting = lag.waiting();
      const unready = whyUnready(kinds, queued, written, waiting);
      const clockSkew = options.client.clockSkew();
      const depth = queued.durable - written.applied;
      return { kinds, queue: queued, writer: written, depth, waiting, clockSkew, unready };
    },
    refresh: async (target, signal) => {
      const found = readers.find(([spec]) => spec.kind.toLowerCase() === target.kind.toLowerCase());
      if (found === undefined) {
        const known = options.kinds.map(({ kind }) => kind).join(", ");
        throw new TrawlerError("TRAWLER_UNSUPPORTED", `kind ${target.kind} is not followed; there are ${known}`);
      }
      const [spec, reader] = found;
      const stamp = { epoch: reader.epoch, now: clock.now };
      const event = await readObjectEvent(options.client, spec, { ...target, kind: spec.kind }, stamp, signal);
      await writer.flush(await queue.append([event]));
      return event.uid;
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      try {
        await Promise.all(searches);
        // Queue first: what was received becomes durable, and the writer applies what is.
        await settle(queue, writer);
      } catch (error) {
        options.log.warn({}, `not all that was received is in the store: ${errorMessage(error)}`);
      }
      await own.disposeAsync();
    },
  };
}

/** Milliseconds that a stop waits for the store. */
const SETTLE = 8_000;

async function settle(queue: DurableQueue, writer: Writer): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("no end in time; the queue keeps it")), SETTLE);
  try {
    const { pending, fault } = queue.status();
    if (fault !== null) throw new Error(fault);
    const durable = pending === 0 ? queue.status().durable : await whenDurable(queue);
    await Promise.race([writer.flush(durable), late.promise]);
  } finally {
    clearTimeout(timer);
    late.promise.catch(() => undefined);
  }
}

function whenDurable(queue: DurableQueue): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  queue.onDurable((sequence) => {
    if (queue.status().pending === 0) resolve(sequence);
  });
  return Promise.race([promise, new Promise<number>((give) => setTimeout(() => give(queue.status().durable), 2_000))]);
}

function whyUnready(
  kinds: readonly KindStatus[],
  queue: QueueStatus,
  writer: WriterStatus,
  waiting: number,
): string | null {
  if (queue.fault !== null) return `nothing becomes durable: ${queue.fault}`;
  if (writer.fault !== null) return writer.fault;
  const behind = kinds.filter(({ required, state }) => required && state !== "synced");
  if (behind.length > 0) {
    return behind.map(({ stream, state, reason }) => `${stream} ${reason ?? `is ${state}`}`).join("; ");
  }
  return waiting > LAG_LIMIT ? `the store is ${Math.round(waiting)} s behind` : null;
}
