/** One record of a Kafka topic. */
export interface KafkaRecord {
  readonly key: string;
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What the emitter asks of a Kafka client: a change of client is one file. A client that failed is closed and another
 * one made: its producer id may have sequence numbers that the broker knows and we do not.
 */
export interface KafkaClient {
  /** Connects and makes sure that the topic exists; resolves with its number of partitions. */
  open(): Promise<number>;
  /** The partition of a key, as every Kafka client computes it (murmur2), so that order per key holds. */
  partition(key: string): number;
  /** Sends records to one partition in one batch; resolves when all in-sync replicas have them. */
  send(partition: number, records: readonly KafkaRecord[]): Promise<void>;
  close(): Promise<void>;
}

export interface KafkaClientOptions {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly createTopic: boolean;
  readonly partitions: number;
  readonly compression: "none" | "gzip" | "zstd";
  readonly clientId: string;
  /** Milliseconds that one request may take. */
  readonly requestTimeout: number;
  readonly tls:
    | {
        readonly ca?: string;
        readonly certificate?: string;
        readonly key?: string;
        readonly serverName?: string;
      }
    | undefined;
  readonly sasl:
    | {
        readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
        readonly username: string;
        readonly password: string;
      }
    | undefined;
  /** Where the client's own log lines go. */
  readonly log: (level: "error" | "warn" | "info" | "debug", message: string) => void;
}
