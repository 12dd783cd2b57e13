import type { Envelope, WriteResult } from "@trawler/plugin-api";
import type { KafkaClient, KafkaRecord } from "./client.ts";
import { classifyFailure } from "./failure.ts";

export interface WriteOptions {
  readonly topic: string;
  readonly brokers: readonly string[];
  /** Bytes of values that one batch of one partition holds at most, before compression; one record may be larger. */
  readonly batchBytes: number;
}

/** The result for the host, and whether the client must be replaced before the next write. */
export interface Written {
  readonly result: WriteResult;
  readonly broken: boolean;
  readonly error: Error | undefined;
}

/**
 * Sends a batch partition by partition, so that the failure of one leaves the others' records sent once. Order per key
 * holds: a partition's records go in order, and after its first failure the rest of that partition is kept for later.
 */
export async function writeEnvelopes(
  client: KafkaClient,
  envelopes: readonly Envelope[],
  options: WriteOptions,
): Promise<Written> {
  const partitions = Map.groupBy(envelopes, ({ key }) => client.partition(key));
  const parts = await Promise.all(
    Array.from(partitions, ([partition, list]) => writePartition(client, partition, list, options)),
  );
  return {
    result: { rejected: parts.flatMap(({ rejected }) => rejected), retry: parts.flatMap(({ retry }) => retry) },
    broken: parts.some(({ error }) => error !== undefined),
    error: parts.find(({ error }) => error !== undefined)?.error,
  };
}

interface PartitionResult {
  readonly rejected: { readonly id: string; readonly code: string; readonly message: string }[];
  readonly retry: string[];
  readonly error: Error | undefined;
}

async function writePartition(
  client: KafkaClient,
  partition: number,
  envelopes: readonly Envelope[],
  options: WriteOptions,
): Promise<PartitionResult> {
  const rejected: PartitionResult["rejected"] = [];
  // A batch that is too large is halved until the one record is found that is.
  const batches = chunk(envelopes, options.batchBytes);
  for (let batch = batches.shift(); batch; batch = batches.shift()) {
    try {
      await client.send(partition, batch.map(record));
    } catch (error) {
      const failure = classifyFailure(error, options.topic, options.brokers);
      if (failure.kind === "later") {
        return { rejected, retry: [batch, ...batches].flat().map(({ id }) => id), error: failure.error };
      }
      const [first] = batch;
      if (batch.length === 1 && first) {
        const message = `${first.name}: ${first.bytes.byteLength} bytes are over ${failure.message}`;
        rejected.push({ id: first.id, code: "too_large", message });
      } else {
        const half = batch.length >> 1;
        batches.unshift(batch.slice(0, half), batch.slice(half));
      }
    }
  }
  return { rejected, retry: [], error: undefined };
}

function chunk(envelopes: readonly Envelope[], bytes: number): Envelope[][] {
  const chunks: Envelope[][] = [];
  let room = 0;
  for (const envelope of envelopes) {
    const last = chunks.at(-1);
    if (last && envelope.bytes.byteLength <= room) last.push(envelope);
    else {
      chunks.push([envelope]);
      room = bytes;
    }
    room -= envelope.bytes.byteLength;
  }
  return chunks;
}

function record({ key, bytes, schema, frameId, reason, node }: Envelope): KafkaRecord {
  const headers = {
    "trawler-schema": schema,
    "trawler-frame-id": frameId,
    "trawler-reason": reason,
    "trawler-node": node,
    "content-type": "application/json",
  };
  return { key, value: bytes, headers };
}
