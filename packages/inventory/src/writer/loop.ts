import { errorCode, errorMessage } from "@trawler/plugin-api";
import type { QueuedEvent } from "../events.ts";
import type { QueueReader } from "../queue/reader.ts";
import type { Applied, Retention, Store } from "../store/store.ts";
import type { WriterStatus } from "../writer.ts";

export interface LoopOptions {
  readonly queue: string;
  readonly token: number;
  readonly flushMilliseconds: number;
  readonly flushEvents: number;
  readonly flushBytes: number;
  readonly retention: Retention | null;
  /** Wall clock, milliseconds: for the age of records only. */
  readonly now: () => number;
  /** Milliseconds, never goes back. */
  readonly monotonic: () => number;
  readonly report: (status: WriterStatus) => void;
}

/** Applies batch after batch. Call `durable` and `flush` at any time; `close` applies what is durable and ends. */
export interface WriterLoop {
  durable(sequence: number): void;
  /** Do not wait for more before everything up to here is applied. */
  flush(sequence: number): void;
  close(): void;
}

const RETRY = [100, 5000] as const;
/** Where the store is behind, it takes so many batches as one: they write to the same pages of its indexes. */
const CATCH_UP = 4;
const PURGE_EVERY = 60_000;
/** Records of one purge, and the pause after it: it never holds up a batch for long. */
const PURGE_STEP = 200;
const PURGE_PAUSE = 100;

export async function runLoop(
  options: LoopOptions,
  reader: QueueReader,
  store: Store,
  ended: () => void,
): Promise<WriterLoop> {
  let durable = 0;
  let urgent = 0;
  let closing = false;
  let over = false;
  let working = false;
  let timer: NodeJS.Timeout | null = null;
  let due = Number.POSITIVE_INFINITY;
  let pause: number = RETRY[0];
  let nextPurge = options.monotonic() + PURGE_EVERY;
  let status: WriterStatus = {
    applied: await store.applied(options.queue),
    batches: 0,
    events: 0,
    staleIgnored: 0,
    quarantined: 0,
    lastBatchMilliseconds: 0,
    fault: null,
    faultCode: null,
  };

  const report = (change: Partial<WriterStatus>): void => {
    status = { ...status, ...change };
    options.report(status);
  };

  const applyAndFree = async (events: readonly QueuedEvent[]): Promise<Applied> => {
    try {
      return await store.apply({ queue: options.queue, events, token: options.token });
    } finally {
      reader.free();
    }
  };

  const applyOne = async (): Promise<void> => {
    const begun = options.monotonic();
    const times = durable - status.applied > options.flushEvents ? CATCH_UP : 1;
    const events = reader.read(status.applied, options.flushEvents * times, options.flushBytes * times);
    if (events.length === 0) return;
    const applied = await applyAndFree(events);
    report({
      applied: applied.sequence,
      batches: status.batches + 1,
      events: status.events + events.length,
      staleIgnored: status.staleIgnored + applied.staleIgnored,
      quarantined: status.quarantined + applied.quarantined,
      lastBatchMilliseconds: options.monotonic() - begun,
      fault: null,
      faultCode: null,
    });
  };

  const purgeOne = async (): Promise<void> => {
    if (options.retention === null || options.monotonic() < nextPurge) return;
    const removed = await store.purge(options.retention, options.now(), PURGE_STEP);
    nextPurge = options.monotonic() + (removed < PURGE_STEP ? PURGE_EVERY : PURGE_PAUSE);
  };

  const step = async (): Promise<void> => {
    timer = null;
    working = true;
    due = Number.POSITIVE_INFINITY;
    let wait = options.retention === null ? PURGE_EVERY : Math.max(1, nextPurge - options.monotonic());
    try {
      if (durable > status.applied) await applyOne();
      await purgeOne();
      pause = RETRY[0];
      if (durable > status.applied) wait = isUrgent() ? 0 : options.flushMilliseconds;
    } catch (error) {
      const code = errorCode(error) ?? null;
      report({ fault: `the store cannot be written: ${errorMessage(error)}; trying again`, faultCode: code });
      wait = pause * (0.8 + Math.random() * 0.2);
      pause = Math.min(pause * 2, RETRY[1]);
      // Another writer has the right now: nothing that we try again may succeed.
      over = code === "TRAWLER_BUSY";
    }
    working = false;
    if (over || (closing && (durable <= status.applied || status.fault !== null))) ended();
    else schedule(wait);
  };

  const isUrgent = (): boolean => closing || urgent > status.applied || durable - status.applied >= options.flushEvents;

  const schedule = (wait: number): void => {
    const at = options.monotonic() + wait;
    // What a step has to wait for it decides at its end.
    if (over || working || at >= due) return;
    if (timer !== null) clearTimeout(timer);
    due = at;
    timer = setTimeout(() => void step(), wait);
  };

  const wake = (): void => {
    if (status.fault !== null && !closing) return;
    if (closing || durable > status.applied) schedule(isUrgent() ? 0 : options.flushMilliseconds);
  };

  options.report(status);
  schedule(PURGE_EVERY);
  return {
    durable: (sequence) => {
      durable = Math.max(durable, sequence);
      wake();
    },
    flush: (sequence) => {
      urgent = Math.max(urgent, sequence);
      wake();
    },
    close: () => {
      closing = true;
      wake();
    },
  };
}
