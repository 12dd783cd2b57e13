import { randomUUID } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import kafkajs from "kafkajs";
import { node } from "./node.ts";
import { waitFor } from "./wait.ts";

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs;

// The library leaves this one to its users.
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async ({ buffer }: { readonly buffer: Buffer }) => zstdCompressSync(buffer),
  decompress: async (buffer: Buffer) => zstdDecompressSync(buffer),
});

export interface Consumed {
  readonly key: string;
  readonly value: string;
  readonly partition: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads a topic from its start, with a client of its own, until it is disposed. */
export class TopicReader implements AsyncDisposable {
  readonly records: Consumed[] = [];
  readonly #topic: string;
  readonly #brokers: readonly string[];
  readonly #close: () => Promise<void>;

  private constructor(topic: string, brokers: readonly string[], close: () => Promise<void>) {
    this.#topic = topic;
    this.#brokers = brokers;
    this.#close = close;
  }

  static async open(topic: string, brokers: readonly string[] = node().kafka.brokers): Promise<TopicReader> {
    const kafka = new Kafka({ brokers: [...brokers], clientId: "reader", logLevel: logLevel.NOTHING });
    const consumer = kafka.consumer({ groupId: `reader-${randomUUID()}` });
    const reader = new TopicReader(topic, brokers, () => consumer.disconnect());
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ partition, message }) => {
        const headers = Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]);
        reader.records.push({
          key: String(message.key),
          value: String(message.value),
          partition,
          headers: Object.fromEntries(headers) as Record<string, string>,
        });
      },
    });
    return reader;
  }

  /** Waits until everything that the topic holds now has been read. */
  async end(): Promise<void> {
    const admin = new Kafka({ brokers: [...this.#brokers], clientId: "admin", logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      const offsets = await admin.fetchTopicOffsets(this.#topic);
      const total = offsets.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);
      await waitFor("the end of the topic", () => this.records.length >= total);
    } finally {
      await admin.disconnect();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

/** Makes a topic, with settings such as `max.message.bytes`. */
export async function makeTopic(topic: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  const admin = new Kafka({
    brokers: [...node().kafka.brokers],
    clientId: "admin",
    logLevel: logLevel.NOTHING,
  }).admin();
  await admin.connect();
  try {
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
    await admin.createTopics({ topics: [{ topic, numPartitions: 6, replicationFactor: 1, configEntries }] });
  } finally {
    await admin.disconnect();
  }
}
