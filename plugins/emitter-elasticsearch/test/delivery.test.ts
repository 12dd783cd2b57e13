import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Emitter, Envelope, WriteResult } from "@trawler/plugin-api";
import { fakeClock, fakeContext, fakeEnvelope, fakeHost, httpReceiver as receiver } from "@trawler/testkit";
import { afterAll, describe, expect, test } from "vitest";
import elasticsearch from "../src/index.ts";
import { actionsOf, took } from "./bulk.ts";

const folder = mkdtempSync(join(tmpdir(), "trawler-elasticsearch-"));
afterAll(() => rmSync(folder, { recursive: true }));

const clock = fakeClock();
const batch = (count: number): Envelope[] => Array.from({ length: count }, (_, index) => fakeEnvelope(index));
const idOf = (index: number): string => fakeEnvelope(index).id;

async function emitter(url: string, settings: object = {}): Promise<Emitter & AsyncDisposable> {
  const created = await elasticsearch.create(elasticsearch.config.parse({ url, ...settings }), fakeHost({ clock }));
  return { ...created, [Symbol.asyncDispose]: async () => created[Symbol.asyncDispose]?.() };
}
const write = async (one: Emitter, envelopes: readonly Envelope[]): Promise<WriteResult> =>
  (await one.write(envelopes, fakeContext())) ?? {};
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

/** A frame with two containers. */
function withContainers(index: number): Envelope {
  const envelope = fakeEnvelope(index);
  const frame = JSON.parse(new TextDecoder().decode(envelope.bytes));
  const container = { image: "registry.example/shop/cart:1.2", digest: null, type: "main", state: { exitCode: null } };
  frame.containers = ["web", "log"].map((name) => ({ id: name, name, features: [], ...container }));
  return { ...envelope, bytes: new TextEncoder().encode(JSON.stringify(frame)) };
}

describe("one batch is one bulk request", () => {
  test("each document is created under an id that a retry has again", async () => {
    await using server = await receiver(took());
    await using one = await emitter(server.url, { index: "trawler-{yyyy}.{MM}.{dd}" });
    const envelopes = [withContainers(0), fakeEnvelope(1)];
    await write(one, envelopes);
    await write(one, envelopes);
    const [first, second] = server.requests;
    expect(first?.path).toMatch(/^\/frames\/_bulk\?filter_path=/);
    expect(first?.headers).toMatchObject({ "content-type": "application/x-ndjson", "content-encoding": "gzip" });
    expect(first && actionsOf(first).map(({ _id }) => _id)).toEqual([idOf(0), `${idOf(0)}:1`, `${idOf(0)}:2`, idOf(1)]);
    expect(first && actionsOf(first)[0]?._index).toBe("trawler-2026.01.01");
    expect(second?.text).toBe(first?.text);
    const lines = first?.text.trimEnd().split("\n") ?? [];
    expect(lines).toHaveLength(8);
    expect(lines.filter((_, place) => place % 2 === 1).map((line) => JSON.parse(line))).toEqual(
      Array(4).fill(expect.objectContaining({ "@timestamp": expect.any(String), ecs: { version: "8.17.0" } })),
    );
  });

  test("format json is the frame itself with @timestamp", async () => {
    await using server = await receiver(took());
    await using one = await emitter(server.url, { format: "json" });
    await write(one, batch(1));
    const document = JSON.parse(server.requests[0]?.text.split("\n")[1] ?? "");
    expect(document).toEqual({
      "@timestamp": "2026-01-01T00:00:00.000Z",
      ...JSON.parse(new TextDecoder().decode(fakeEnvelope(0).bytes)),
    });
  });
});

describe("what the cluster says of single documents", () => {
  test("429 and 503 are sent again, alone; a mapping error is refused with its reason; 409 is there already", async () => {
    const of = (id: string) =>
      id === idOf(1)
        ? { status: 400, error: { type: "document_parsing_exception", reason: "failed to parse field [x]" } }
        : { status: { [idOf(0)]: 409, [idOf(2)]: 429, [idOf(3)]: 503 }[id] ?? 201 };
    await using server = await receiver(took(of));
    await using one = await emitter(server.url);
    expect(await write(one, batch(5))).toEqual({
      rejected: [
        {
          id: idOf(1),
          code: "TRAWLER_REFUSED",
          message: "400: document_parsing_exception: failed to parse field [x]",
        },
      ],
      retry: [idOf(2), idOf(3)],
    });
  });

  test("a refused document of one container is its frame's; one that is busy keeps the frame for later", async () => {
    const of = (id: string) => ({ status: { [`${idOf(0)}:2`]: 400, [`${idOf(1)}:1`]: 429 }[id] ?? 201 });
    await using server = await receiver(took(of));
    await using one = await emitter(server.url);
    const { rejected, retry } = await write(one, [withContainers(0), withContainers(1), withContainers(2)]);
    expect(rejected?.map(({ id }) => id)).toEqual([idOf(0)]);
    expect(retry).toEqual([idOf(1)]);
  });

  test("where all are busy the write fails with the reason, for the host to tell", async () => {
    const error = { type: "es_rejected_execution_exception", reason: "queue is full" };
    await using server = await receiver(took(() => ({ status: 429, error })));
    await using one = await emitter(server.url);
    expect(await failure(write(one, batch(2)))).toMatchObject({
      code: "TRAWLER_RETRY",
      message: expect.stringContaining("queue is full"),
    });
  });

  test.each([
    ["another server", "<html>it works</html>"],
    ["fewer items than documents", JSON.stringify({ errors: false, items: [] })],
    ["items without a status", JSON.stringify({ errors: false, items: [{ create: {} }] })],
    ["null", "null"],
  ])("%s is no bulk answer: nothing counts as taken", async (_, text) => {
    await using server = await receiver(() => ({ status: 200, text }));
    await using one = await emitter(server.url);
    expect(await failure(write(one, batch(1)))).toMatchObject({ code: "TRAWLER_RETRY" });
  });

  test("an answer without end is read up to a bound, and fewer are asked about at once", async () => {
    await using server = await receiver((request, count) =>
      count === 1 ? { status: 200, text: " ".repeat(9 * 1_048_576) } : took()(request, count),
    );
    await using one = await emitter(server.url);
    expect(await write(one, batch(2))).toEqual({ rejected: [], retry: [] });
    expect(server.requests).toHaveLength(3);
  });
});

describe("what the cluster says of a request", () => {
  test("429 with Retry-After is left alone for as long as it asked", async () => {
    await using server = await receiver((request, count) =>
      count === 1 ? { status: 429, headers: { "retry-after": "7" } } : took()(request, count),
    );
    await using one = await emitter(server.url);
    expect(await failure(write(one, batch(1)))).toMatchObject({ code: "TRAWLER_RETRY" });
    expect(await failure(write(one, batch(1)))).toMatchObject({ message: expect.stringContaining("7 s more") });
    expect(server.requests).toHaveLength(1);
    clock.advance(7_000);
    expect(await write(one, batch(1))).toEqual({ rejected: [], retry: [] });
  });

  test("413: the batch is halved until it is taken", async () => {
    await using server = await receiver((request, count) =>
      actionsOf(request).length > 2 ? { status: 413 } : took()(request, count),
    );
    await using one = await emitter(server.url);
    expect(await write(one, batch(5))).toEqual({ rejected: [], retry: [] });
  });

  test("401 keeps the batch until somebody mends it", async () => {
    await using server = await receiver(() => ({ status: 401, text: '{"error":{"type":"security_exception"}}' }));
    await using one = await emitter(server.url);
    expect(await failure(write(one, batch(1)))).toMatchObject({
      code: "TRAWLER_RETRY",
      message: expect.stringContaining("security_exception"),
    });
  });
});

describe("authentication", () => {
  test("a user's password and an API key come from files that are read again, and stand in no error", async () => {
    await using server = await receiver(() => ({ status: 403 }));
    const path = join(folder, "secret");
    await using user = await emitter(server.url, { basic: { username: "trawler", passwordFile: path } });
    await using key = await emitter(server.url, { apiKeyFile: path });
    const errors = [];
    for (const secret of ["hunter2", "hunter3"]) {
      writeFileSync(path, `${secret}\n`);
      errors.push(await failure(write(user, batch(1))), await failure(write(key, batch(1))));
    }
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${btoa("trawler:hunter2")}`,
      "ApiKey hunter2",
      `Basic ${btoa("trawler:hunter3")}`,
      "ApiKey hunter3",
    ]);
    expect(errors.map(String).join()).not.toMatch(/hunter/);
  });

  test.each([
    ["a password twice", { basic: { username: "a", password: "b", passwordFile: "/c" } }],
    ["an index in upper case", { index: "Trawler" }],
    ["an index that begins with a hyphen", { index: "-trawler" }],
    ["an index with a placeholder that is not known", { index: "trawler-{name}" }],
    ["an index named ..", { index: ".." }],
  ])("%s is refused before anything is sent", (_, settings) => {
    expect(elasticsearch.config.safeParse({ url: "https://search.example", ...settings }).success).toBe(false);
  });
});
