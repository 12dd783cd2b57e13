import { readFile } from "node:fs/promises";
import { gzipSync, zstdCompressSync } from "node:zlib";
import {
  defineEmitter,
  type Emitter,
  type Envelope,
  errorMessage,
  type PluginHost,
  TrawlerError,
  type WriteResult,
} from "@trawler/plugin-api";
import type { KafkaClient, KafkaClientOptions } from "./client.ts";
import { bytesOf, type Config, config, millisecondsOf } from "./config.ts";
import { classifyFailure } from "./failure.ts";
import { writeEnvelopes } from "./write.ts";

export default defineEmitter({
  name: "kafka",
  description: "Writes frames to a Kafka topic, keyed by pod, at least once.",
  config,
  create: async (settings, host) => {
    await checkFiles(settings);
    // Loaded on first use: its import costs more memory than most crawlers.
    return createEmitter(settings, host, async (options) =>
      (await import("./kafkajs.ts")).createKafkaJsClient(options),
    );
  },
});

/** The emitter over any client; a client that failed in any way is replaced before the next write. */
export function createEmitter(
  settings: Config,
  host: PluginHost,
  makeClient: (options: KafkaClientOptions) => Promise<KafkaClient>,
): Emitter & AsyncDisposable {
  const brokers = settings.brokers.map((broker) => broker.trim());
  const maxBytes = bytesOf(settings.maxFrame);
  let client: KafkaClient | undefined;

  const connect = async (signal: AbortSignal): Promise<KafkaClient> => {
    const fresh = await makeClient(await clientOptions(settings, brokers, host));
    try {
      await fresh.open();
      signal.throwIfAborted();
      return fresh;
    } catch (error) {
      await fresh.close().catch(() => undefined);
      if (signal.aborted) throw error;
      const failure = classifyFailure(error, settings.topic, brokers);
      throw failure.kind === "later" ? failure.error : error;
    }
  };
  const discard = async (): Promise<void> => {
    const old = client;
    client = undefined;
    await old?.close().catch((error) => host.log.debug({ error: errorMessage(error) }, "closing the client failed"));
  };
  const write = async (envelopes: readonly Envelope[], signal: AbortSignal): Promise<WriteResult> => {
    client ??= await connect(signal);
    const { result, broken, error } = await writeEnvelopes(client, envelopes, {
      topic: settings.topic,
      brokers,
      batchBytes: maxBytes,
    });
    if (broken) {
      await discard();
      host.log.warn({ retry: result.retry?.length ?? 0 }, errorMessage(error));
    }
    return result;
  };

  return {
    maxBytes,
    sizeOf: compressedSize(settings.compression),
    async write(envelopes, { signal }) {
      if (envelopes.length === 0) return undefined;
      try {
        return await untilAborted(signal, write(envelopes, signal));
      } catch (error) {
        // What the broker has of a write that was cut off is not known: its client must not send again.
        if (signal.aborted) void discard();
        throw error;
      }
    },
    [Symbol.asyncDispose]: discard,
  };
}

/** Settles as the work does, or rejects with the signal's reason; the client knows no signals. */
async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const cut = Promise.withResolvers<never>();
  const abort = () => cut.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, cut.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
    work.catch(() => undefined);
  }
}

/** What the broker's limit counts: the batch as it is compressed. */
function compressedSize(compression: Config["compression"]): (bytes: Uint8Array) => number {
  if (compression === "gzip") return (bytes) => gzipSync(bytes).byteLength;
  if (compression === "zstd") return (bytes) => zstdCompressSync(bytes).byteLength;
  return (bytes) => bytes.byteLength;
}

async function clientOptions(
  settings: Config,
  brokers: readonly string[],
  host: PluginHost,
): Promise<KafkaClientOptions> {
  const { tls, sasl } = settings;
  const read = (path: string | undefined) => (path === undefined ? undefined : readSecret(path));
  const [ca, certificate, key, passwordText] = await Promise.all([
    read(tls?.ca),
    read(tls?.certificate),
    read(tls?.key),
    read(sasl?.passwordFile),
  ]);
  return {
    brokers,
    topic: settings.topic,
    createTopic: settings.createTopic,
    partitions: settings.partitions,
    compression: settings.compression,
    clientId: settings.clientId,
    requestTimeout: millisecondsOf(settings.requestTimeout),
    tls: tls && {
      ...(ca !== undefined && { ca }),
      ...(certificate !== undefined && { certificate }),
      ...(key !== undefined && { key }),
      ...(tls.serverName !== undefined && { serverName: tls.serverName }),
    },
    sasl: sasl && {
      mechanism: sasl.mechanism,
      username: sasl.username,
      password: passwordText?.replace(/\r?\n$/, "") ?? sasl.password ?? "",
    },
    // Its lines come at each of its own retries: the host says once what failed.
    log: (_level, message) => host.log.debug({}, message),
  };
}

/**
 * A file that cannot be read at the start is a fault of the configuration, told at once; later it is waited for, as it may
 * be renewed. Throws TRAWLER_CONFIG_INVALID.
 */
async function checkFiles({ tls, sasl }: Config): Promise<void> {
  for (const path of [tls?.ca, tls?.certificate, tls?.key, sasl?.passwordFile]) {
    if (path === undefined) continue;
    await readSecret(path).catch((cause: unknown) => {
      throw new TrawlerError("TRAWLER_CONFIG_INVALID", errorMessage(cause), { cause });
    });
  }
}

async function readSecret(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause) => {
    throw new TrawlerError("TRAWLER_UNAVAILABLE", `cannot read ${path}: ${errorMessage(cause)}`, { cause });
  });
}
