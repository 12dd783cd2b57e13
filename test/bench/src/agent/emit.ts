import { randomBytes, randomUUID } from "node:crypto";
import kafkaEmitter from "@trawler/emitter-kafka";
import type { Envelope } from "@trawler/plugin-api";
import { fakeHost } from "@trawler/testkit";
import kafkajs from "kafkajs";
import type { Benchmark } from "../benchmark.ts";
import { node } from "./node.ts";
import { makeTopic } from "./topic.ts";
import { fixed, median } from "./usage.ts";

const BATCH = 500;

/** Frames of the size of a pod's with two containers; half of it does not compress. */
function frames(count: number): readonly Envelope[] {
  return Array.from({ length: count }, (_, index) => {
    const text = JSON.stringify({ index, name: `pod-${index}`, noise: randomBytes(700).toString("hex") });
    const id = randomUUID();
    const common = {
      schema: "trawler.frame/1",
      reason: "interval",
      node: "node-a",
      name: `shop/pod-${index}`,
    } as const;
    return { id, frameId: id, key: randomUUID(), ...common, bytes: Buffer.from(text.padEnd(2048)) };
  });
}

export const bench: Benchmark = {
  name: "emit",
  title: "Frames per second to Kafka",
  async run({ log, quick, signal }) {
    const brokers = [...node().kafka.brokers];
    const batch = frames(BATCH);
    const batches = quick ? 10 : 60;
    await using topic = await makeTopic();
    const parsed = await kafkaEmitter.config["~standard"].validate({ brokers, topic: topic.name });
    if (parsed.issues) throw new Error(JSON.stringify(parsed.issues));
    const host = fakeHost();
    const emitter = await kafkaEmitter.create(parsed.value, host);
    const client = new kafkajs.Kafka({ brokers, clientId: "bare", logLevel: kafkajs.logLevel.NOTHING });
    const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    const write = async (): Promise<void> => {
      const result = await emitter.write(batch, { signal, log: host.log });
      if (result?.retry?.length || result?.rejected?.length) throw new Error("the broker did not take all frames");
    };
    const send = async (): Promise<void> => {
      const messages = batch.map(({ key, bytes }) => ({ key, value: Buffer.from(bytes) }));
      await producer.send({ topic: topic.name, acks: -1, compression: kafkajs.CompressionTypes.GZIP, messages });
    };
    const measure = async (work: () => Promise<void>): Promise<{ rate: number; cpu: number }> => {
      const cpu = process.cpuUsage();
      const began = performance.now();
      for (let index = 0; index < batches; index++) await work();
      const { user, system } = process.cpuUsage(cpu);
      return {
        rate: (batches * BATCH * 1000) / (performance.now() - began),
        cpu: (user + system) / (batches * BATCH),
      };
    };
    try {
      await measure(write);
      await measure(send);
      const ours: { rate: number; cpu: number }[] = [];
      const bare: { rate: number; cpu: number }[] = [];
      for (let round = 1; round <= 5; round++) {
        ours.push(await measure(write));
        bare.push(await measure(send));
        log(`round ${round}: ${fixed(ours.at(-1)?.rate ?? 0, 0)} and ${fixed(bare.at(-1)?.rate ?? 0, 0)} frames/s`);
      }
      const middle = (values: readonly { rate: number; cpu: number }[]) => ({
        rate: median(values.map(({ rate }) => rate)),
        cpu: median(values.map(({ cpu }) => cpu)),
      });
      const [mine, theirs] = [middle(ours), middle(bare)];
      const share = median(ours.map(({ rate }, index) => rate / (bare[index]?.rate ?? Number.NaN)));
      const show = ({ rate, cpu }: ReturnType<typeof middle>): string =>
        `${fixed(rate.middle, 0)} ± ${fixed(rate.spread, 0)} frames/s, ${fixed(cpu.middle, 0)} µs of CPU a frame`;
      return {
        rows: [
          { what: "Emitter kafka", figure: show(mine) },
          { what: "Bare client (kafkajs)", figure: show(theirs) },
          {
            what: "Emitter to bare client",
            figure: `${fixed(share.middle, 2)} × ± ${fixed(share.spread, 2)}`,
          },
        ],
        method: `${batches} batches of ${BATCH} frames of 2 KiB, gzip, acks all, idempotent, one request in flight; five rounds in turns in one process, against the testbed's broker.`,
        raw: { emitter: ours, bare },
      };
    } finally {
      await producer.disconnect();
      await emitter[Symbol.asyncDispose]?.();
    }
  },
};
