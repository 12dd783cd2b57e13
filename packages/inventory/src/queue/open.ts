import type { Worker } from "node:worker_threads";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import { startThread } from "../thread.ts";
import { createBlocks } from "./blocks.ts";
import { createGroup, type Group } from "./group.ts";
import type { FromQueueThread, QueueThreadData, ToQueueThread } from "./messages.ts";
import type { DurableQueue } from "./queue.ts";
import { openQueueReader, type QueueReader } from "./reader.ts";

export interface QueueOptions {
  readonly file: string;
  /** Largest size of the file, bytes; reached = a fault until something is released. Default 2 GiB. */
  readonly maxBytes?: number;
  /** Milliseconds that an event may wait for others to be committed with; default 20. */
  readonly commitMilliseconds?: number;
}

/** A group is committed at so many events or bytes, or when its time is over. */
const GROUP_EVENTS = 256;
const GROUP_BYTES = 2 * 1024 * 1024;
/** Groups in the hands of the thread. */
const IN_FLIGHT = 3;
/** Beyond this the reader is asked to wait. */
const PENDING_BYTES = 8 * 1024 * 1024;
const PENDING_EVENTS = 16_384;
/** Of one `read`. */
const READ_BYTES = 32 * 1024 * 1024;
/** Blocks that are kept for what comes next, and the largest of them: a group is full before its last event. */
const BLOCKS = 4;
const BLOCK_BYTES = 2 * GROUP_BYTES;
const OPEN_MILLISECONDS = 30_000;

interface Waiter {
  readonly resolve: (sequence: number) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiting {
  readonly group: Group;
  /** Appends that end in this group. */
  readonly waiters: Waiter[];
}

/** Opens, or makes, a queue's file. One at a time may have it open for appending. */
export async function openQueue(options: QueueOptions): Promise<DurableQueue> {
  const data: QueueThreadData = { file: options.file, maxBytes: options.maxBytes ?? 2 * 1024 ** 3 };
  const worker = startThread("./queue-thread", import.meta.url, data);
  try {
    const opened = await firstMessage(worker);
    return drive(worker, options, opened);
  } catch (error) {
    await worker.terminate();
    throw error;
  }
}

type Opened = Extract<FromQueueThread, { type: "opened" }>;

function firstMessage(worker: Worker): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const refuse = (message: string): void => reject(new TrawlerError("TRAWLER_UNAVAILABLE", message));
    const timer = setTimeout(() => refuse("the queue does not open in time"), OPEN_MILLISECONDS);
    worker.once("message", (message: FromQueueThread) => {
      clearTimeout(timer);
      if (message.type === "opened") resolve(message);
      else refuse(message.type === "refused" ? message.message : "the queue does not open");
    });
    worker.once("error", (error) => {
      clearTimeout(timer);
      refuse(errorMessage(error));
    });
  });
}

function drive(worker: Worker, options: QueueOptions, opened: Opened): DurableQueue {
  const blocks = createBlocks(BLOCKS, BLOCK_BYTES);
  const waiting: Waiting[] = [];
  const inFlight: Waiting[] = [];
  const listeners: ((sequence: number) => void)[] = [];
  let rooms: (() => void)[] = [];
  let durable = opened.durable;
  let released = opened.released;
  let fileBytes = 0;
  let pending = 0;
  let pendingBytes = 0;
  let compacted = 0;
  let fault: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let ended: TrawlerError | null = null;
  let reader: QueueReader | null = null;
  let closing: Promise<void> | null = null;
  let onClosed: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });

  const send = (message: ToQueueThread, transfer: readonly ArrayBuffer[] = []): void =>
    worker.postMessage(message, transfer);
  const isFull = (): boolean => pendingBytes >= PENDING_BYTES || pending >= PENDING_EVENTS;

  const dispatch = (all: boolean): void => {
    while (inFlight.length < IN_FLIGHT) {
      const next = waiting[0];
      if (next === undefined || (!all && waiting.length === 1 && !isComplete(next.group))) break;
      waiting.shift();
      inFlight.push(next);
      const { heads, lengths, block } = next.group;
      send({ type: "append", heads, lengths, block }, [block.buffer]);
    }
    const open = waiting[0];
    if (open === undefined || timer !== null || inFlight.length >= IN_FLIGHT) return;
    timer = setTimeout(() => {
      timer = null;
      dispatch(true);
    }, options.commitMilliseconds ?? 20);
  };

  const settle = (sequence: number): void => {
    const done = inFlight.shift();
    durable = sequence;
    if (done !== undefined) {
      pending -= done.group.heads.length;
      pendingBytes -= done.group.size;
      for (const { resolve } of done.waiters) resolve(sequence);
    }
    if (!isFull()) {
      for (const resolve of rooms) resolve();
      rooms = [];
    }
    for (const listener of listeners) listener(sequence);
    dispatch(closing !== null);
  };

  const end = (error: TrawlerError): void => {
    ended ??= error;
    if (timer !== null) clearTimeout(timer);
    for (const { waiters } of [...inFlight.splice(0), ...waiting.splice(0)]) {
      for (const { reject } of waiters) reject(ended);
    }
    for (const resolve of rooms) resolve();
    rooms = [];
    onClosed();
  };

  worker.on("message", (message: FromQueueThread) => {
    if (message.type === "fault") fault = message.message;
    else if (message.type === "compacted") {
      compacted += message.dropped;
      fileBytes = message.fileBytes;
    } else if (message.type === "released") {
      released = message.sequence;
      fileBytes = message.fileBytes;
    } else if (message.type === "partial") {
      fileBytes = message.fileBytes;
      durable = message.sequence;
      for (const listener of listeners) listener(durable);
    } else if (message.type === "durable") {
      fileBytes = message.fileBytes;
      blocks.give(message.block);
      settle(message.sequence);
    } else if (message.type === "closed") {
      end(new TrawlerError("TRAWLER_GONE", fault ?? "the queue is closed"));
    }
  });
  worker.on("error", (error) =>
    end(new TrawlerError("TRAWLER_UNAVAILABLE", `the queue's thread failed: ${errorMessage(error)}`)),
  );
  worker.on("exit", () => end(new TrawlerError("TRAWLER_GONE", fault ?? "the queue is closed")));

  const queue: DurableQueue = {
    identity: opened.identity,
    file: options.file,
    append: (events) => {
      if (ended !== null || closing !== null) {
        return Promise.reject(ended ?? new TrawlerError("TRAWLER_GONE", "the queue is closing"));
      }
      if (events.length === 0) return Promise.resolve(durable);
      return new Promise((resolve, reject) => {
        for (const event of events) {
          let last = waiting.at(-1);
          if (last === undefined || isComplete(last.group)) {
            last = { group: createGroup(blocks), waiters: [] };
            waiting.push(last);
          }
          const before = last.group.size;
          last.group.add(event);
          pending += 1;
          pendingBytes += last.group.size - before;
        }
        waiting.at(-1)?.waiters.push({ resolve, reject });
        dispatch(false);
      });
    },
    room: () => (isFull() && ended === null ? new Promise((resolve) => rooms.push(resolve)) : null),
    read: async (after, limit) => {
      reader ??= openQueueReader(options.file);
      return reader.read(after, limit, READ_BYTES);
    },
    release: (sequence) => {
      if (ended === null) send({ type: "release", sequence });
    },
    status: () => ({ durable, released, pending, pendingBytes, fileBytes, compacted, fault }),
    onDurable: (listener) => void listeners.push(listener),
    close: () => {
      closing ??= (async () => {
        dispatch(true);
        while (ended === null && (waiting.length > 0 || inFlight.length > 0) && fault === null) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          dispatch(true);
        }
        if (ended === null) send({ type: "close" });
        await closed;
        reader?.[Symbol.dispose]();
        await worker.terminate();
      })();
      return closing;
    },
    [Symbol.asyncDispose]: () => queue.close(),
  };
  return queue;
}

function isComplete({ heads, size }: Group): boolean {
  return heads.length >= GROUP_EVENTS || size >= GROUP_BYTES;
}
