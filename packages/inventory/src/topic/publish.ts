import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sleep as realSleep, type Sleep } from "@trawler/kube";
import { errorCode, errorMessage, type Logger, TrawlerError } from "@trawler/plugin-api";
import library, { type Kafka, type Producer } from "kafkajs";
import type { Feed, FeedEntry, StoreReader } from "../store/store.ts";

export interface PublishOptions {
  readonly kafka: Kafka;
  readonly store: StoreReader;
  readonly log: Logger;
  readonly topic: string;
  readonly createTopic: boolean;
  readonly partitions: number;
  /** Keeps the place up to which records were written. */
  readonly folder: string;
  readonly sleep?: Sleep;
}

interface PublishStatus {
  readonly written: number;
  /** Place in the store's order of commits up to which the topic has everything; null before the first. */
  readonly cursor: string | null;
  readonly fault: string | null;
}

/** Writes each changed record to the compacted topic, at least once, the latest state of each; a purged one as a tombstone. */
export interface Publisher {
  /** The store has changed. */
  wake(): void;
  /** Until the signal aborts; then writes what is there, within its deadline. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  status(): PublishStatus;
}

const BATCH = 500;
const SCHEMA = "trawler.inventory/1";
const CURSOR_FILE = "topic-cursor.json";
/** Milliseconds without a change after which the store is looked at all the same. */
const LOOK = 5_000;
const RETRY = [500, 30_000] as const;

export function createPublisher(options: PublishOptions): Publisher {
  const { kafka, store, log, topic } = options;
  const pause = options.sleep ?? realSleep;
  const path = join(options.folder, CURSOR_FILE);
  let waker = new AbortController();
  let producer: Producer | null = null;
  let cursor: string | null = null;
  let written = 0;
  let fault: string | null = null;
  let retry: number = RETRY[0];

  const connect = async (): Promise<Producer> => {
    await ensureTopic(options);
    const made = kafka.producer({
      allowAutoTopicCreation: false,
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: library.Partitioners.DefaultPartitioner,
      retry: { retries: 2 },
    });
    await made.connect();
    return made;
  };

  const discard = async (): Promise<void> => {
    const old = producer;
    producer = null;
    await old?.disconnect().catch(() => undefined);
  };

  const changed = async (): Promise<Feed> => {
    try {
      return await store.feed(cursor, BATCH);
    } catch (error) {
      if (errorCode(error) !== "TRAWLER_GONE") throw error;
      log.warn({}, `topic ${topic}: ${errorMessage(error)}; every record is written again`);
      return await store.feed(null, BATCH);
    }
  };

  /** One batch; false where there is nothing to write. */
  const step = async (): Promise<boolean> => {
    const { entries, next } = await changed();
    if (entries.length === 0) return false;
    producer ??= await connect();
    const messages = entries.map(message);
    await producer.send({ topic, acks: -1, messages, compression: library.CompressionTypes.GZIP });
    await saveCursor(path, next);
    cursor = next;
    written += entries.length;
    return true;
  };

  const attempt = async (): Promise<boolean> => {
    try {
      const more = await step();
      fault = null;
      retry = RETRY[0];
      return more;
    } catch (error) {
      const text = `topic ${topic}: ${errorMessage(error)}`;
      if (fault !== text) log.warn({ code: errorCode(error) ?? "UNKNOWN" }, text);
      fault = text;
      // What the broker has of a batch that failed is not known: its producer must not go on.
      await discard();
      return false;
    }
  };

  return {
    wake: () => waker.abort(),
    run: async (signal) => {
      cursor = await loadCursor(path);
      while (!signal.aborted) {
        waker = new AbortController();
        if (await attempt()) continue;
        if (fault !== null) {
          await pause(retry * (0.5 + Math.random() / 2), signal);
          retry = Math.min(retry * 2, RETRY[1]);
        } else await pause(LOOK, AbortSignal.any([signal, waker.signal]));
      }
      if (fault === null) while (await attempt());
      await discard();
    },
    status: () => ({ written, cursor, fault }),
  };
}

function message(entry: FeedEntry): { key: string; value: string | null; headers: Record<string, string> } {
  const { cluster, kind, uid, record } = entry;
  return {
    key: `${cluster}/${kind}/${uid}`,
    // Without a value the broker drops what it holds under the key.
    value: record === null ? null : JSON.stringify({ schema: SCHEMA, ...record }),
    headers: { "trawler-schema": SCHEMA, "content-type": "application/json" },
  };
}

async function ensureTopic({ kafka, topic, createTopic, partitions }: PublishOptions): Promise<void> {
  const admin = kafka.admin({ retry: { retries: 2 } });
  await admin.connect();
  try {
    if ((await admin.listTopics()).includes(topic)) return;
    if (!createTopic) {
      throw new TrawlerError("TRAWLER_UNAVAILABLE", "it does not exist: create it compacted, or set createTopic: true");
    }
    const configEntries = [{ name: "cleanup.policy", value: "compact" }];
    await admin.createTopics({
      waitForLeaders: true,
      topics: [{ topic, numPartitions: partitions, replicationFactor: -1, configEntries }],
    });
  } finally {
    await admin.disconnect();
  }
}

async function loadCursor(path: string): Promise<string | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return typeof value === "string" ? value : null;
  } catch {
    // None, or none that can be read: everything is written again.
    return null;
  }
}

async function saveCursor(path: string, cursor: string): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify(cursor), { mode: 0o600 });
  await rename(`${path}.new`, path);
}
