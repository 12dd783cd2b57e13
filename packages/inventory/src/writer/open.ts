import type { Worker } from "node:worker_threads";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import { startThread } from "../thread.ts";
import type { Writer, WriterOptions, WriterStatus } from "../writer.ts";
import type { FromWriterThread, ToWriterThread, WriterThreadData } from "./messages.ts";

const OPEN_MILLISECONDS = 60_000;
const LONGEST_FLUSH = 5000;
/** Of a store that does not open; any other is TRAWLER_UNAVAILABLE. */
const OPEN_CODES = ["TRAWLER_REFUSED", "TRAWLER_DENIED", "TRAWLER_BUSY"] as const;

/**
 * Starts the writer of a queue and a store. Errors: TRAWLER_REFUSED for another cluster's store, TRAWLER_DENIED for a
 * wrong password, TRAWLER_BUSY where another writer has taken over, TRAWLER_UNAVAILABLE where it cannot be opened.
 */
export async function openWriter(options: WriterOptions): Promise<Writer> {
  const data: WriterThreadData = {
    queueFile: options.queue.file,
    queue: options.queue.identity,
    store: options.store,
    cluster: options.cluster,
    token: options.token ?? 0,
    flushMilliseconds: Math.min(options.flushMilliseconds ?? 500, LONGEST_FLUSH),
    flushEvents: options.flushEvents ?? 500,
    flushBytes: options.flushBytes ?? 4 * 1024 * 1024,
    retention: options.retention ?? null,
  };
  const worker = startThread("./writer-thread", import.meta.url, data);
  try {
    return drive(worker, options, await firstStatus(worker));
  } catch (error) {
    await worker.terminate();
    throw error;
  }
}

function firstStatus(worker: Worker): Promise<WriterStatus> {
  return new Promise((resolve, reject) => {
    const refuse = (message: string, code: string | null = null): void =>
      reject(new TrawlerError(OPEN_CODES.find((one) => one === code) ?? "TRAWLER_UNAVAILABLE", message));
    const timer = setTimeout(() => refuse("the store does not open in time"), OPEN_MILLISECONDS);
    worker.once("message", (message: FromWriterThread) => {
      clearTimeout(timer);
      if (message.type === "status") resolve(message.status);
      else if (message.type === "refused") refuse(message.message, message.code);
      else refuse("the store does not open");
    });
    worker.once("error", (error) => {
      clearTimeout(timer);
      refuse(errorMessage(error));
    });
  });
}

function drive(worker: Worker, options: WriterOptions, first: WriterStatus): Writer {
  const { queue } = options;
  const listeners: ((status: WriterStatus) => void)[] = [];
  let waiters: { readonly sequence: number; resolve(): void; reject(error: unknown): void }[] = [];
  let status = first;
  let ended: TrawlerError | null = null;
  let onClosed: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  const send = (message: ToWriterThread): void => worker.postMessage(message);

  const advance = (): void => {
    // Only now, that the store has committed it.
    if (status.applied > queue.status().released) queue.release(status.applied);
    const done = waiters.filter(({ sequence }) => sequence <= status.applied);
    waiters = waiters.filter(({ sequence }) => sequence > status.applied);
    for (const { resolve } of done) resolve();
    for (const listener of listeners) listener(status);
  };

  const end = (error: TrawlerError): void => {
    if (ended !== null) return;
    ended = error;
    for (const { reject } of waiters) reject(error);
    waiters = [];
    status = { ...status, fault: status.fault ?? error.message, faultCode: status.faultCode ?? error.code };
    onClosed();
  };

  const overMessage = (): TrawlerError =>
    new TrawlerError(
      status.faultCode === "TRAWLER_BUSY" ? "TRAWLER_BUSY" : "TRAWLER_GONE",
      status.fault ?? "the writer has ended",
    );

  worker.on("message", (message: FromWriterThread) => {
    if (message.type === "status") {
      status = message.status;
      advance();
    } else if (message.type === "closed") end(overMessage());
  });
  worker.on("error", (error) =>
    end(new TrawlerError("TRAWLER_UNAVAILABLE", `the writer's thread failed: ${errorMessage(error)}`)),
  );
  worker.on("exit", () => end(overMessage()));
  queue.onDurable((sequence) => {
    if (ended === null) send({ type: "durable", sequence });
  });
  send({ type: "durable", sequence: queue.status().durable });
  advance();

  const writer: Writer = {
    status: () => status,
    flush: (sequence) => {
      if (sequence <= status.applied) return Promise.resolve();
      if (ended !== null) return Promise.reject(ended);
      return new Promise((resolve, reject) => {
        waiters.push({ sequence, resolve, reject });
        send({ type: "flush", sequence });
      });
    },
    onApplied: (listener) => void listeners.push(listener),
    close: async () => {
      if (ended === null) send({ type: "close" });
      await closed;
      await worker.terminate();
    },
    [Symbol.asyncDispose]: () => writer.close(),
  };
  return writer;
}
