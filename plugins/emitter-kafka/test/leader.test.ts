import { type Envelope, errorCode, type PluginHost } from "@trawler/plugin-api";
import { expect, test } from "vitest";
import { config } from "../src/config.ts";
import { createEmitter } from "../src/index.ts";

// The clients are fakes: one broker has no second leader to move to.

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
const log = { debug() {}, info() {}, warn() {}, error() {} };
const host: PluginHost = {
  id: "kafka",
  log,
  clock: { now: Date.now, monotonic: () => performance.now() / 1000 },
  node: { name: "node-a", cluster: "test", paths: { root: "/", proc: "/proc", cgroup: "/sys/fs/cgroup" } },
  signal: new AbortController().signal,
};
const context = { signal: host.signal, log };
const settings = config.parse({ brokers: ["127.0.0.1:9092"] });
const protocolError = (type: string): Error => Object.assign(new Error(type), { name: "KafkaJSProtocolError", type });
const refused: Error = Object.assign(new Error("connect ECONNREFUSED 192.0.2.1:9092"), {
  name: "KafkaJSConnectionError",
  code: "ECONNREFUSED",
});

test.each([
  ["moves", protocolError("NOT_LEADER_OR_FOLLOWER")],
  ["dies", refused],
])("C121: when the leader %s, a new client asks who leads now, and the frame is kept for it", async (_, failure) => {
  const asked: number[] = [];
  let clients = 0;
  const emitter = createEmitter(settings, host, async () => {
    const number = clients++;
    return {
      async open() {
        asked.push(number);
        return 1;
      },
      partition: () => 0,
      async send() {
        if (number === 0) throw failure;
      },
      close: async () => undefined,
    };
  });
  expect(await emitter.write([envelope], context)).toEqual({ rejected: [], retry: ["a"] });
  expect(await emitter.write([envelope], context)).toEqual({ rejected: [], retry: [] });
  expect(asked).toEqual([0, 1]);
});

test("C129: a topic that has no leader yet is waited for", async () => {
  let left = 5;
  let open = 0;
  const emitter = createEmitter(settings, host, async () => {
    open += 1;
    return {
      async open() {
        left -= 1;
        if (left >= 0) throw protocolError("LEADER_NOT_AVAILABLE");
        return 1;
      },
      partition: () => 0,
      send: async () => undefined,
      async close() {
        open -= 1;
      },
    };
  });
  for (let round = 0; round < 5; round += 1) {
    expect(await Promise.resolve(emitter.write([envelope], context)).catch(errorCode)).toBe("TRAWLER_UNAVAILABLE");
    expect(open).toBe(0);
  }
  expect(await emitter.write([envelope], context)).toEqual({ rejected: [], retry: [] });
});
