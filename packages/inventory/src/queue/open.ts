import type { Worker } from "node:worker_threads";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { InventoryEvent } from "../events.ts";
import { startThread } from "../thread.ts";
import { encodeEvent, sizeOf } from "./codec.ts";
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
const GROUP_BYTES = 4 * 1024 * 1024;
/** Groups in the hands of the thread. */
const IN_FLIGHT = 3;
/** Beyond this the reader is asked to wait. */
const PENDING_BYTES = 32 * 1024 * 1024;
const PENDING_EVENTS = 16_384;
const OPEN_MILLISECONDS = 30_000;

interface Waiter {
  readonly resolve: (sequence: number) => void;
  readonly reject: (error: unknown) => void;
}

interface Group {
  readonly events: InventoryEvent[];
  /** Appends that end in this group. */
  readonly waiters: Waiter[];
  bytes: number;
}

/** Opens, or makes, a queue's file. One at a time may have it open for appending. */
export async function openQueue(options: QueueOptions): Promise<DurableQueue> {
  const data: QueueThreadData = { file: options.file, maxBytes: options.maxBytes ?? 2 * 1024 ** 3 };
  const worker = startThread("./worker", import.meta.url, data);
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
  const waiting: Group[] = [];
  const inFlight: Group[] = [];
  const listeners: ((sequence: number) => void)[] = [];
  let rooms: (() => void)[] = [];
  let durable = opened.durable;
  let released = opened.released;
  let fileBytes = 0;
  let pending = 0;
  let pendingBytes = 0;
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
      const group = waiting[0];
      if (group === undefined || (!all && waiting.length === 1 && !isComplete(group))) break;
      waiting.shift();
      inFlight.push(group);
      const encoded = group.events.map(encodeEvent);
      // One block of its own, handed over: no copy of the buffers that the payloads are parts of.
      const bytes = joined(encoded.map(({ payload }) => payload));
      const heads = encoded.map(({ head }) => head);
      send({ type: "append", heads, lengths: encoded.map(({ payload }) => payload.length), bytes }, [bytes.buffer]);
    }
    const open = waiting[0];
    if (open === undefined || timer !== null || inFlight.length >= IN_FLIGHT) return;
    timer = setTimeout(() => {
      timer = null;
      dispatch(true);
    }, options.commitMilliseconds ?? 20);
  };

  const settle = (sequence: number): void => {
    const group = inFlight.shift();
    durable = sequence;
    if (group !== undefined) {
      pending -= group.events.length;
      pendingBytes -= group.bytes;
      for (const { resolve } of group.waiters) resolve(sequence);
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
    for (const group of [...inFlight.splice(0), ...waiting.splice(0)]) {
      for (const { reject } of group.waiters) reject(ended);
    }
    for (const resolve of rooms) resolve();
    rooms = [];
    onClosed();
  };

  worker.on("message", (message: FromQueueThread) => {
    if (message.type === "fault") fault = message.message;
    else if (message.type === "released") {
      released = message.sequence;
      fileBytes = message.fileBytes;
    } else if (message.type === "durable") {
      fileBytes = message.fileBytes;
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
          let group = waiting.at(-1);
          if (group === undefined || isComplete(group)) {
            group = { events: [], waiters: [], bytes: 0 };
            waiting.push(group);
          }
          group.events.push(event);
          const size = sizeOf(event);
          group.bytes += size;
          pending += 1;
          pendingBytes += size;
        }
        waiting.at(-1)?.waiters.push({ resolve, reject });
        dispatch(false);
      });
    },
    room: () => (isFull() && ended === null ? new Promise((resolve) => rooms.push(resolve)) : null),
    read: async (after, limit) => {
      reader ??= openQueueReader(options.file);
      return reader.read(after, limit, PENDING_BYTES);
    },
    release: (sequence) => {
      if (ended === null) send({ type: "release", sequence });
    },
    status: () => ({ durable, released, pending, pendingBytes, fileBytes, fault }),
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

function isComplete(group: Group): boolean {
  return group.events.length >= GROUP_EVENTS || group.bytes >= GROUP_BYTES;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
