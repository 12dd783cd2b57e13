/// <reference path="./kafkajs-internals.d.ts" />
import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import library, { type Kafka, type SASLOptions } from "kafkajs";
import Queue from "kafkajs/src/network/requestQueue/index.js";

export interface KafkaSettings {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly tls?:
    | {
        readonly ca?: string | undefined;
        readonly certificate?: string | undefined;
        readonly key?: string | undefined;
        readonly serverName?: string | undefined;
      }
    | undefined;
  readonly sasl?:
    | {
        readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
        readonly username: string;
        readonly password?: string | undefined;
        readonly passwordFile?: string | undefined;
      }
    | undefined;
}

const REQUEST_MILLISECONDS = 10_000;

/** A client of kafkajs; nothing is connected yet. Reads the files that the settings name. */
export async function makeKafka(settings: KafkaSettings, log: (message: string) => void): Promise<Kafka> {
  mendNegativeTimer();
  const { tls, sasl } = settings;
  const ssl: ConnectionOptions | undefined = tls && {
    ...(tls.ca !== undefined && { ca: await readSecret(tls.ca) }),
    ...(tls.certificate !== undefined && { cert: await readSecret(tls.certificate) }),
    ...(tls.key !== undefined && { key: await readSecret(tls.key) }),
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
  };
  return new library.Kafka({
    brokers: settings.brokers.map((broker) => broker.trim()),
    clientId: settings.clientId,
    connectionTimeout: 5_000,
    requestTimeout: REQUEST_MILLISECONDS,
    enforceRequestTimeout: true,
    retry: { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 },
    ...(ssl && { ssl }),
    ...(sasl && { sasl: await saslOptions(sasl) }),
    logLevel: library.logLevel.WARN,
    logCreator:
      () =>
      ({ log: entry }) =>
        log(entry.message),
  });
}

async function saslOptions(sasl: NonNullable<KafkaSettings["sasl"]>): Promise<SASLOptions> {
  const { mechanism, username } = sasl;
  const file = sasl.passwordFile === undefined ? null : await readSecret(sasl.passwordFile);
  const password = file?.replace(/\r?\n$/, "") ?? sasl.password ?? "";
  if (mechanism === "plain") return { mechanism, username, password };
  return mechanism === "scram-sha-256" ? { mechanism, username, password } : { mechanism, username, password };
}

async function readSecret(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => {
    throw new TrawlerError("TRAWLER_UNAVAILABLE", `cannot read ${path}: ${errorMessage(error)}`);
  });
}

interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
}

/** As the Kafka emitter does it: version 2.2.4 sets timers of negative length, of which Node warns each time. */
function mendNegativeTimer(): void {
  Object.assign(Queue.prototype, {
    scheduleCheckPendingRequests(this: RequestQueue): void {
      if (this.pending.length === 0 || this.throttleCheckTimeoutId) return;
      this.throttleCheckTimeoutId = setTimeout(
        () => {
          this.throttleCheckTimeoutId = null;
          this.checkPendingRequests();
        },
        Math.max(this.throttledUntil - Date.now(), 10),
      );
    },
  });
}
