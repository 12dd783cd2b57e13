import { randomUUID } from "node:crypto";
import kafkajs from "kafkajs";
import { node } from "./node.ts";

const { Kafka, logLevel } = kafkajs;

const client = (): InstanceType<typeof Kafka> =>
  new Kafka({ brokers: [...node().kafka.brokers], clientId: "bench", logLevel: logLevel.NOTHING });

/** A topic of its own for one bench; disposing deletes it. */
export async function makeTopic(): Promise<AsyncDisposable & { readonly name: string }> {
  const name = `trawler.bench.${randomUUID()}`;
  const admin = client().admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: name, numPartitions: 6, replicationFactor: 1 }] });
  return {
    name,
    [Symbol.asyncDispose]: async () => {
      await admin.deleteTopics({ topics: [name] }).catch(() => undefined);
      await admin.disconnect();
    },
  };
}

/** Records in a topic so far. */
export async function countRecords(topic: string): Promise<number> {
  const admin = client().admin();
  await admin.connect();
  try {
    const offsets = await admin.fetchTopicOffsets(topic);
    return offsets.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);
  } finally {
    await admin.disconnect();
  }
}

/** Reads a topic from its start, as soon as a record can be read; `onRecord` gets the time of that. */
export async function follow(
  topic: string,
  onRecord: (value: string, readAt: number) => void,
): Promise<AsyncDisposable> {
  const consumer = client().consumer({ groupId: `bench-${randomUUID()}`, maxWaitTimeInMs: 10 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => onRecord(String(message.value), Date.now()) });
  return { [Symbol.asyncDispose]: () => consumer.disconnect() };
}
