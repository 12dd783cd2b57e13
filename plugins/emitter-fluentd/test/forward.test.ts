import { encode } from "@msgpack/msgpack";
import type { Emitter } from "@trawler/plugin-api";
import { fakeContext, fakeEnvelope, fakeHost } from "@trawler/testkit";
import { expect, test } from "vitest";
import plugin from "../src/index.ts";
import { receiver } from "./receiver.ts";

async function emitter(address: string, settings: object = {}): Promise<Emitter & AsyncDisposable> {
  const created = await plugin.create(plugin.config.parse({ address, ...settings }), fakeHost());
  return { write: created.write, [Symbol.asyncDispose]: async () => created[Symbol.asyncDispose]?.() };
}
const write = (one: Emitter, count = 1): Promise<unknown> =>
  one.write(
    Array.from({ length: count }, (_, index) => fakeEnvelope(index)),
    fakeContext(),
  );
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test("a batch is one message with its tag, the frames' own times and a chunk that is confirmed", async () => {
  await using server = await receiver();
  await using one = await emitter(server.address, { tag: "trawler.frames" });
  await write(one, 3);
  await write(one, 1);
  const [first, second] = server.messages;
  expect(first).toMatchObject({ tag: "trawler.frames", options: { size: 3 } });
  expect(first?.entries.map(({ time }) => time)).toEqual(
    [0, 1, 2].map((index) => [Date.UTC(2026, 0, 1) / 1_000 + index, 0]),
  );
  expect(second?.options.chunk).not.toBe(first?.options.chunk);
});

test("parity E7: a record with the metadata, then one a feature", async () => {
  await using server = await receiver();
  await using one = await emitter(server.address, { records: "features" });
  await write(one);
  expect(server.messages[0]?.entries.map(({ record }) => record)).toEqual([
    expect.objectContaining({ namespace: "shop/cart-0", system_type: "pod" }),
    { feature_type: "number", feature_key: "number", feature_val: { index: 0 } },
  ]);
});

test("the shared key is proved to each other", async () => {
  await using server = await receiver({ sharedKey: "s3cret" });
  await using one = await emitter(server.address, { sharedKey: "s3cret" });
  await write(one, 2);
  expect(server.messages[0]?.entries).toHaveLength(2);
});

test("a wrong key is one clear refusal, and stands in no message", async () => {
  await using server = await receiver({ sharedKey: "s3cret" });
  await using one = await emitter(server.address, { sharedKey: "gue55" });
  const error = await failure(write(one));
  expect(error).toMatchObject({ code: "TRAWLER_UNAVAILABLE", message: expect.stringContaining("shared_key mismatch") });
  expect(String(error)).not.toContain("gue55");
});

test.each<[string, (chunk: string) => Uint8Array | null]>([
  ["closes the connection", () => null],
  ["confirms another chunk", () => encode({ ack: "other" })],
  ["answers with something else", () => Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ["answers without an end", () => Buffer.alloc(64 * 1024, 0xdb)],
  ["begins a value and stops", () => Buffer.from([0x92, 0xa1])],
])("a receiver that %s has not taken the batch", async (_, answer) => {
  await using server = await receiver({ answer: ({ options }) => answer(options.chunk) });
  await using one = await emitter(server.address, { timeout: "300ms" });
  expect(await failure(write(one))).toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
});

test("after a failure the next batch goes over a new connection", async () => {
  let count = 0;
  await using server = await receiver({
    answer: ({ options }) => (++count === 1 ? null : encode({ ack: options.chunk })),
  });
  await using one = await emitter(server.address);
  expect(await failure(write(one))).toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
  expect(await failure(write(one))).toBeNull();
});
