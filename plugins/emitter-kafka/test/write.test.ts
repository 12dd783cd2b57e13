import type { Envelope } from "@trawler/plugin-api";
import { expect, test } from "vitest";
import type { KafkaClient, KafkaRecord } from "../src/client.ts";
import { writeEnvelopes } from "../src/write.ts";

// The client is a fake: a real broker cannot be made to refuse one partition of a batch on request.

const options = { topic: "frames", brokers: ["127.0.0.1:9092"], batchBytes: 1_000 };

function envelope(id: string, key: string, bytes = 10): Envelope {
  return {
    id,
    frameId: id,
    key,
    schema: "trawler.frame/1",
    reason: "interval",
    node: "node-a",
    name: `shop/${key}`,
    bytes: new Uint8Array(bytes),
  };
}

/** Partition = the key's number; `send` answers as told and remembers what it took. */
function fakeClient(send: (partition: number, records: readonly KafkaRecord[]) => void) {
  const taken: string[][] = [];
  const client: KafkaClient = {
    open: async () => 6,
    partition: Number,
    async send(partition, records) {
      send(partition, records);
      taken.push(records.map(({ headers }) => headers["trawler-frame-id"] ?? ""));
    },
    close: async () => undefined,
  };
  return { client, taken };
}

const protocolError = (type: string) => Object.assign(new Error(type), { name: "KafkaJSProtocolError", type });

test("C136: only the failed partition's frames are to be sent again, in their order", async () => {
  const { client, taken } = fakeClient((partition) => {
    if (partition === 1) throw protocolError("NOT_LEADER_OR_FOLLOWER");
  });
  const { result, broken } = await writeEnvelopes(
    client,
    [envelope("a", "0"), envelope("b", "1"), envelope("c", "0"), envelope("d", "1")],
    options,
  );
  expect(taken).toEqual([["a", "c"]]);
  expect(result).toEqual({ rejected: [], retry: ["b", "d"] });
  expect(broken).toBe(true);
});

test("C124: a record that the broker finds too large is named and does not block the others", async () => {
  const { client, taken } = fakeClient((_, records) => {
    if (records.some(({ value }) => value.byteLength > 500)) throw protocolError("MESSAGE_TOO_LARGE");
  });
  const list = ["a", "b", "huge", "c", "d"].map((id) => envelope(id, "0", id === "huge" ? 600 : 10));
  const { result, broken } = await writeEnvelopes(client, list, options);
  expect(taken.flat()).toEqual(["a", "b", "c", "d"]);
  expect(result.rejected).toEqual([
    {
      id: "huge",
      code: "too_large",
      message: expect.stringMatching(/^shop\/0: 600 bytes are over .*MESSAGE_TOO_LARGE/),
    },
  ]);
  expect(result.retry).toEqual([]);
  expect(broken).toBe(false);
});

test("a batch holds no more bytes than allowed, and one larger record goes alone", async () => {
  const { client, taken } = fakeClient(() => undefined);
  await writeEnvelopes(
    client,
    [envelope("a", "0", 600), envelope("b", "0", 600), envelope("c", "0", 400), envelope("d", "0", 5_000)],
    options,
  );
  expect(taken).toEqual([["a"], ["b", "c"], ["d"]]);
});

test("records carry the headers that consumers filter by", async () => {
  const seen: KafkaRecord[] = [];
  const { client } = fakeClient((_, records) => void seen.push(...records));
  await writeEnvelopes(client, [envelope("a", "3")], options);
  expect(seen[0]?.headers).toEqual({
    "trawler-schema": "trawler.frame/1",
    "trawler-frame-id": "a",
    "trawler-reason": "interval",
    "trawler-node": "node-a",
    "content-type": "application/json",
  });
});
