import { isRecord, sleep as realSleep, type Sleep } from "@trawler/kube";
import { errorMessage, type Logger } from "@trawler/plugin-api";
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from "kafkajs";
import type { FiguresEvent, InventoryEvent } from "../events.ts";

export interface FramesOptions {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly topic: string;
  readonly group: string;
  /** Frames of other clusters are not ours. */
  readonly cluster: string;
  readonly now: () => number;
  /** Resolves when they are durable. */
  readonly append: (events: readonly InventoryEvent[]) => Promise<unknown>;
  readonly sleep?: Sleep;
}

interface FramesStatus {
  readonly joined: number;
  readonly malformed: number;
  readonly fault: string | null;
}

/** Takes the final frames of the node agents from their topic; the place in it moves only when they are durable. */
export interface FramesReader {
  /** Until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  status(): FramesStatus;
}

const RETRY = [1_000, 30_000] as const;

export function createFramesReader(options: FramesOptions): FramesReader {
  const { kafka, log, topic, group, cluster } = options;
  const pause = options.sleep ?? realSleep;
  let joined = 0;
  let malformed = 0;
  let fault: string | null = null;

  const take = async (payload: EachBatchPayload): Promise<void> => {
    const { batch, resolveOffset, heartbeat, commitOffsetsIfNecessary, isRunning, isStale } = payload;
    if (!isRunning() || isStale()) return;
    const events: FiguresEvent[] = [];
    for (const message of batch.messages) {
      if (!isEnded(message) || message.value === null) continue;
      const event = figuresEvent(message.value, cluster, options.now());
      if (event === "malformed") malformed += 1;
      else if (event !== null) events.push(event);
    }
    await options.append(events);
    joined += events.length;
    const last = batch.messages.at(-1);
    if (last !== undefined) resolveOffset(last.offset);
    await commitOffsetsIfNecessary();
    await heartbeat();
    fault = null;
  };

  /** Until the consumer has crashed for good, or the signal aborts. */
  const consume = async (consumer: Consumer, signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = (): void => resolve();
    signal.addEventListener("abort", stop, { once: true });
    try {
      consumer.on("consumer.crash", ({ payload }) => {
        if (!payload.restart) reject(payload.error);
      });
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({ eachBatchAutoResolve: false, eachBatch: take });
      if (signal.aborted) resolve();
      await promise;
    } finally {
      signal.removeEventListener("abort", stop);
      promise.catch(() => undefined);
      await consumer.disconnect().catch(() => undefined);
    }
  };

  return {
    run: async (signal) => {
      let retry: number = RETRY[0];
      while (!signal.aborted) {
        try {
          await consume(kafka.consumer({ groupId: group, allowAutoTopicCreation: false }), signal);
          retry = RETRY[0];
        } catch (error) {
          const text = `frames of topic ${topic}: ${errorMessage(error)}`;
          if (fault !== text) log.warn({}, text);
          fault = text;
        }
        await pause(retry * (0.5 + Math.random() / 2), signal);
        retry = Math.min(retry * 2, RETRY[1]);
      }
    },
    status: () => ({ joined, malformed, fault }),
  };
}

function isEnded({ headers }: KafkaMessage): boolean {
  const reason = headers?.["trawler-reason"];
  // Without the header the frame itself has to tell.
  return reason === undefined || String(reason) === "ended";
}

/** Null where the frame is not the last one of a pod of ours. */
function figuresEvent(payload: Uint8Array, cluster: string, receivedAt: number): FiguresEvent | "malformed" | null {
  const frame = parse(payload);
  if (!isRecord(frame) || !isRecord(frame["resource"])) return "malformed";
  if (frame["reason"] !== "ended") return null;
  const { resource } = frame;
  const uid = resource["k8s.pod.uid"];
  if (typeof uid !== "string" || uid === "" || resource["k8s.cluster.name"] !== cluster) return null;
  return { stream: "frames", receivedAt, epoch: 0, type: "figures", uid, payload };
}

function parse(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload).toString("utf8"));
  } catch {
    return null;
  }
}
