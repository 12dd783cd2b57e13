import type { ConnectionOptions } from "node:tls";
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import library, { type Admin, type KafkaConfig, type Producer, type SASLOptions } from "kafkajs";
import type { KafkaClient, KafkaClientOptions } from "./client.ts";
import { mendNegativeTimer } from "./timer.ts";

/** Attempts inside one send; the host's own retries stand above them. */
const RETRIES = 2;

/** A client of kafkajs; nothing is connected before `open`. */
export async function createKafkaJsClient(options: KafkaClientOptions): Promise<KafkaClient> {
  mendNegativeTimer();
  registerZstandard();
  const kafka = new library.Kafka(configuration(options));
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: library.Partitioners.DefaultPartitioner,
    retry: { retries: RETRIES },
  });
  const choose = library.Partitioners.DefaultPartitioner();
  const compression = {
    none: library.CompressionTypes.None,
    gzip: library.CompressionTypes.GZIP,
    zstd: library.CompressionTypes.ZSTD,
  }[options.compression];
  let partitions: { partitionId: number; leader: number }[] = [];
  return {
    async open() {
      partitions = await describeTopic(kafka.admin({ retry: { retries: RETRIES } }), options);
      await producer.connect();
      return partitions.length;
    },
    partition: (key) =>
      choose({
        topic: options.topic,
        partitionMetadata: partitions.map((one) => ({ ...one, isr: [], replicas: [], partitionErrorCode: 0 })),
        message: { key, value: null },
      }),
    async send(partition, records) {
      const messages = records.map(({ key, value, headers }) => ({
        key,
        value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
        headers: { ...headers },
        partition,
      }));
      await producer.send({ topic: options.topic, acks: -1, timeout: options.requestTimeout, compression, messages });
    },
    close: () => closeProducer(producer),
  };
}

function configuration(options: KafkaClientOptions): KafkaConfig {
  const { tls, sasl } = options;
  const ssl: ConnectionOptions | undefined = tls && {
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.certificate !== undefined && { cert: tls.certificate }),
    ...(tls.key !== undefined && { key: tls.key }),
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
  };
  return {
    brokers: [...options.brokers],
    clientId: options.clientId,
    connectionTimeout: Math.min(options.requestTimeout, 5_000),
    requestTimeout: options.requestTimeout,
    enforceRequestTimeout: true,
    retry: { retries: RETRIES, initialRetryTime: 100, maxRetryTime: 1_000 },
    ...(ssl && { ssl }),
    ...(sasl && { sasl: { ...sasl } as SASLOptions }),
    logLevel: library.logLevel.WARN,
    logCreator:
      () =>
      ({ level, log }) => {
        const { ERROR, WARN, INFO } = library.logLevel;
        const name = level === ERROR ? "error" : level === WARN ? "warn" : level === INFO ? "info" : "debug";
        options.log(name, log.message);
      },
  };
}

/** The topic's partitions; makes the topic where that is asked for. */
async function describeTopic(
  admin: Admin,
  { topic, createTopic, partitions }: KafkaClientOptions,
): Promise<{ partitionId: number; leader: number }[]> {
  await admin.connect();
  try {
    if (createTopic) {
      // −1 = the broker's own default of replicas. False where it exists already.
      await admin.createTopics({ topics: [{ topic, numPartitions: partitions, replicationFactor: -1 }] });
    }
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const found = topics.find(({ name }) => name === topic)?.partitions ?? [];
    return found.map(({ partitionId, leader }) => ({ partitionId, leader }));
  } finally {
    await admin.disconnect();
  }
}

async function closeProducer(producer: Producer): Promise<void> {
  await producer.disconnect();
}

function registerZstandard(): void {
  const compress = promisify(zstdCompress);
  const decompress = promisify(zstdDecompress);
  library.CompressionCodecs[library.CompressionTypes.ZSTD] = () => ({
    compress: (encoder: { buffer: Buffer }) => compress(encoder.buffer),
    decompress: (buffer: Buffer) => decompress(buffer),
  });
}
