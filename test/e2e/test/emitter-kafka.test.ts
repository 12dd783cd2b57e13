import { randomUUID } from "node:crypto";
import plugin from "@trawler/emitter-kafka";
import type { Envelope, PluginHost } from "@trawler/plugin-api";
import { startComponent, stopComponent, testbedUnsupported } from "@trawler/testbed";
import { emitterContract } from "@trawler/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeTopic, TopicReader } from "../src/kafka.ts";
import { node } from "../src/node.ts";
import { waitFor } from "../src/wait.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const signal = new AbortController().signal;
const host: PluginHost = {
  id: "kafka",
  log: silent,
  clock: { now: Date.now, monotonic: () => performance.now() / 1000 },
  node: { name: "node-a", cluster: "testbed", paths: { root: "/", proc: "/proc", cgroup: "/sys/fs/cgroup" } },
  signal,
};
const context = { signal, log: silent };

function envelope(text: string, key = "pod-1"): Envelope {
  const id = randomUUID();
  const bytes = new TextEncoder().encode(text);
  return {
    id,
    frameId: id,
    key,
    schema: "trawler.frame/1",
    reason: "interval",
    node: "node-a",
    name: "shop/cart-0",
    bytes,
  };
}

const emitter = async (settings: object) =>
  plugin.create(plugin.config.parse({ brokers: node().kafka.brokers, ...settings }), host);

describe.skipIf(testbedUnsupported() !== undefined)("the Kafka emitter's contract on a real broker", () => {
  const cases = emitterContract(plugin, {
    config: { brokers: ["127.0.0.1:9092"] },
    async world() {
      const own = `frames-${randomUUID()}`;
      await makeTopic(own);
      return {
        config: { brokers: node().kafka.brokers, topic: own },
        async arrived() {
          await using reader = await TopicReader.open(own);
          await reader.end();
          return reader.records.map(({ value }) => value);
        },
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
    // A port of the discard service, which nothing serves here.
    away: async () => ({
      config: { brokers: ["127.0.0.1:9"] },
      [Symbol.asyncDispose]: async () => undefined,
    }),
  });
  for (const { name, run } of cases) test(name, run);
});

describe.skipIf(testbedUnsupported() !== undefined)("the Kafka emitter against a real broker", () => {
  let topic = "";
  beforeEach(() => {
    topic = `frames-${randomUUID()}`;
  });

  let warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  beforeEach(() => {
    warnings = [];
    process.on("warning", onWarning);
  });
  afterEach(() => {
    process.off("warning", onWarning);
    expect(warnings.filter(({ name }) => name === "TimeoutNegativeWarning")).toEqual([]);
  });

  test.each(["gzip", "zstd", "none"])(
    "parity E6: frames arrive once, keyed and in order per key (%s)",
    async (compression) => {
      await using sink = { ...(await emitter({ topic, createTopic: true, compression })) } as Awaited<
        ReturnType<typeof emitter>
      > &
        AsyncDisposable;
      const sent = Array.from({ length: 60 }, (_, index) => envelope(`{"n":${index}}`, `pod-${index % 7}`));
      expect(await sink.write(sent, context)).toEqual({ rejected: [], retry: [] });
      await using reader = await TopicReader.open(topic);
      await waitFor("all records", () => reader.records.length >= sent.length);
      expect(reader.records).toHaveLength(sent.length);
      for (let pod = 0; pod < 7; pod++) {
        const numbers = reader.records
          .filter(({ key }) => key === `pod-${pod}`)
          .map(({ value }) => JSON.parse(value).n);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        expect(new Set(reader.records.filter(({ key }) => key === `pod-${pod}`).map((one) => one.partition)).size).toBe(
          1,
        );
      }
      expect(reader.records[0]?.headers["trawler-frame-id"]).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test("C127: a missing topic is one clear error that says how to mend it", async () => {
    const sink = await emitter({ topic });
    await expect(sink.write([envelope("{}")], context)).rejects.toMatchObject({
      code: "TRAWLER_UNAVAILABLE",
      message: expect.stringMatching(
        /topic frames-.* does not exist on Kafka at .*: create it, or set createTopic: true/,
      ),
    });
    await sink[Symbol.asyncDispose]?.();
  });

  test("C124: a frame over the topic's limit is rejected by name, the others arrive", async () => {
    await makeTopic(topic, { "max.message.bytes": "20000" });
    const sink = await emitter({ topic, compression: "none" });
    const huge = envelope(JSON.stringify({ text: "x".repeat(50_000) }));
    const result = await sink.write([envelope('{"n":1}'), huge, envelope('{"n":2}')], context);
    expect(result?.rejected).toMatchObject([{ id: huge.id, code: "too_large" }]);
    await using reader = await TopicReader.open(topic);
    await waitFor("the small ones", () => reader.records.length >= 2);
    expect(reader.records.map(({ value }) => value)).toEqual(['{"n":1}', '{"n":2}']);
    await sink[Symbol.asyncDispose]?.();
  });

  test("C126: 1.5 MB that compress to little are accepted", async () => {
    await makeTopic(topic);
    const sink = await emitter({ topic });
    const big = envelope(JSON.stringify({ text: "x".repeat(1_500_000) }));
    expect(sink.sizeOf?.(big.bytes)).toBeLessThan(sink.maxBytes ?? 0);
    expect(await sink.write([big], context)).toEqual({ rejected: [], retry: [] });
    await sink[Symbol.asyncDispose]?.();
  });

  test("SASL and TLS: right credentials are accepted, wrong ones are one clear error", async () => {
    const { kafka } = node();
    const sasl = { mechanism: "scram-sha-256", username: kafka.username, password: kafka.password };
    const good = await emitter({ brokers: kafka.saslBrokers, topic, createTopic: true, sasl });
    expect(await good.write([envelope("{}")], context)).toEqual({ rejected: [], retry: [] });
    await good[Symbol.asyncDispose]?.();

    const bad = await emitter({ brokers: kafka.saslBrokers, topic, sasl: { ...sasl, password: "not-the-password" } });
    const error = await Promise.resolve(bad.write([envelope("{}")], context)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: "TRAWLER_UNAVAILABLE",
      message: expect.stringContaining("refused the credentials"),
    });
    expect(String(error)).not.toContain("not-the-password");
    await bad[Symbol.asyncDispose]?.();

    const tls = { ca: kafka.caFile, certificate: kafka.clientCertificateFile, key: kafka.clientKeyFile };
    const secure = await emitter({ brokers: kafka.tlsBrokers, topic, tls });
    expect(await secure.write([envelope("{}")], context)).toEqual({ rejected: [], retry: [] });
    await secure[Symbol.asyncDispose]?.();

    const untrusted = await emitter({ brokers: kafka.tlsBrokers, topic, tls: {} });
    await expect(untrusted.write([envelope("{}")], context)).rejects.toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
    await untrusted[Symbol.asyncDispose]?.();
  });

  test("the broker goes away and comes back: the frame is refused meanwhile and arrives after", async () => {
    const sink = await emitter({ topic, createTopic: true, requestTimeout: "2s" });
    expect(await sink.write([envelope('{"n":1}')], context)).toEqual({ rejected: [], retry: [] });
    await stopComponent("kafka-1");
    const waiting = envelope('{"n":2}');
    const during = await Promise.resolve(sink.write([waiting], context)).catch((error: unknown) => error);
    expect(during).toMatchObject(during instanceof Error ? { code: "TRAWLER_UNAVAILABLE" } : { retry: [waiting.id] });
    await startComponent("kafka-1");
    await waitFor(
      "the write to succeed again",
      async () => {
        const result = await sink.write([waiting], context);
        return result?.retry?.length === 0;
      },
      60_000,
    );
    await using reader = await TopicReader.open(topic);
    await waitFor("both frames", () => new Set(reader.records.map(({ value }) => value)).size === 2);
    await sink[Symbol.asyncDispose]?.();
  });
});
