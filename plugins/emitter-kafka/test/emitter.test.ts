import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Envelope, PluginHost } from "@trawler/plugin-api";
import { expect, test } from "vitest";
import type { KafkaClient, KafkaClientOptions } from "../src/client.ts";
import { bytesOf, config, millisecondsOf } from "../src/config.ts";
import kafka, { createEmitter } from "../src/index.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const host: PluginHost = {
  id: "kafka",
  log: silent,
  clock: { now: Date.now, monotonic: () => performance.now() / 1000 },
  node: { name: "node-a", cluster: "test", paths: { root: "/", proc: "/proc", cgroup: "/sys/fs/cgroup" } },
  signal: new AbortController().signal,
};
const context = { signal: host.signal, log: silent };
const envelope: Envelope = {
  id: "a",
  frameId: "a",
  key: "uid",
  schema: "trawler.frame/1",
  reason: "interval",
  node: "node-a",
  name: "shop/cart-0",
  bytes: new TextEncoder().encode("{}"),
};

/** Fake clients for faults that a real broker cannot be made to show; each `send` answers by the next of `answers`. */
function fakes(answers: (Error | undefined)[]) {
  const made: KafkaClientOptions[] = [];
  const closed: number[] = [];
  const make = async (options: KafkaClientOptions): Promise<KafkaClient> => {
    const number = made.push(options) - 1;
    return {
      open: async () => 1,
      partition: () => 0,
      async send() {
        const answer = answers.shift();
        if (answer) throw answer;
      },
      async close() {
        closed.push(number);
      },
    };
  };
  return { made, closed, make };
}

test("C123: when the broker forgets the producer, the frame is kept for a new producer", async () => {
  const forgotten = Object.assign(new Error("unknown producer"), { type: "UNKNOWN_PRODUCER_ID" });
  const { made, closed, make } = fakes([forgotten]);
  const emitter = createEmitter(config.parse({ brokers: ["127.0.0.1:9092"] }), host, make);
  expect(await emitter.write([envelope], context)).toEqual({ rejected: [], retry: ["a"] });
  expect(closed).toEqual([0]);
  expect(await emitter.write([envelope], context)).toEqual({ rejected: [], retry: [] });
  expect(made).toHaveLength(2);
});

test("C130: refused credentials give one clear error without the password, and a changed file is picked up", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trawler-kafka-"));
  try {
    const passwordFile = join(folder, "password");
    await writeFile(passwordFile, "first-secret\n");
    const made: KafkaClientOptions[] = [];
    const settings = config.parse({
      brokers: ["127.0.0.1:9092"],
      sasl: { mechanism: "scram-sha-256", username: "trawler", passwordFile },
    });
    const emitter = createEmitter(settings, host, async (options) => {
      made.push(options);
      const fine = options.sasl?.password === "second-secret";
      return {
        async open() {
          if (!fine) throw Object.assign(new Error("first-secret refused"), { name: "KafkaJSSASLAuthenticationError" });
          return 1;
        },
        partition: () => 0,
        send: async () => undefined,
        close: async () => undefined,
      };
    });
    const error = await emitter.write([envelope], context).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: "TRAWLER_UNAVAILABLE",
      message: expect.stringContaining("refused the credentials"),
    });
    expect(String(error)).not.toContain("first-secret");
    await writeFile(passwordFile, "second-secret\n");
    expect(await emitter.write([envelope], context)).toEqual({ rejected: [], retry: [] });
    expect(made.map(({ sasl }) => sasl?.password)).toEqual(["first-secret", "second-secret"]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("an unreadable password file is named, and may be there later", async () => {
  const settings = config.parse({
    brokers: ["127.0.0.1:9092"],
    sasl: { mechanism: "plain", username: "trawler", passwordFile: "/nonexistent/password" },
  });
  const emitter = createEmitter(settings, host, fakes([]).make);
  await expect(emitter.write([envelope], context)).rejects.toMatchObject({
    code: "TRAWLER_UNAVAILABLE",
    message: expect.stringContaining("/nonexistent/password"),
  });
});

test("a file that cannot be read at the start is a fault of the configuration", async () => {
  const settings = config.parse({
    brokers: ["kafka:9092"],
    sasl: { mechanism: "plain", username: "trawler", passwordFile: "/nonexistent/password" },
  });
  await expect(Promise.resolve(kafka.create(settings, host))).rejects.toMatchObject({
    code: "TRAWLER_CONFIG_INVALID",
    message: expect.stringMatching(/^cannot read \/nonexistent\/password: ENOENT/),
  });
});

test("closing is safe twice and without a client", async () => {
  const emitter = createEmitter(config.parse({ brokers: ["127.0.0.1:9092"] }), host, fakes([]).make);
  await emitter[Symbol.asyncDispose]();
  await emitter.write([envelope], context);
  await emitter[Symbol.asyncDispose]();
  await emitter[Symbol.asyncDispose]();
});

test("the size that counts is the compressed one (C126)", () => {
  const emitter = createEmitter(config.parse({ brokers: ["127.0.0.1:9092"] }), host, fakes([]).make);
  expect(emitter.sizeOf?.(new Uint8Array(1_500_000))).toBeLessThan(90_000);
});

test("sizes, durations and broker addresses are read as written", () => {
  expect([bytesOf("900KiB"), millisecondsOf("10s")]).toEqual([921_600, 10_000]);
  const accepts = (over: object): boolean => config.safeParse({ brokers: ["kafka-0:9092"], ...over }).success;
  expect(["1KiB", "1GiB", "17", "17B", "2GiB"].map((maxFrame) => accepts({ maxFrame }))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(["100ms", "1.5s", "10m", "1ms", "1h"].map((requestTimeout) => accepts({ requestTimeout }))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(config.safeParse({ brokers: [" kafka-0:9092 ", "[2001:db8::1]:9092"] }).success).toBe(true);
  expect(config.safeParse({ brokers: ["kafka-0"] }).success).toBe(false);
  expect(config.safeParse({ brokers: [] }).success).toBe(false);
});
