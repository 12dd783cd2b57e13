import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Emitter, Envelope, WriteResult } from "@trawler/plugin-api";
import { fakeContext, fakeEnvelope, fakeHost } from "@trawler/testkit";
import { afterAll, describe, expect, test } from "vitest";
import s3 from "../src/index.ts";
import { addressOf } from "../src/object.ts";
import { errorDocument, KEYS, objectStore, type Reply, SECRET } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "trawler-s3-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function emitter(endpoint: string, settings: object = KEYS): Promise<Emitter & AsyncDisposable> {
  const config = s3.config.parse({ bucket: "trawler-frames", endpoint, ...settings });
  const created = await s3.create(config, fakeHost());
  return { ...created, [Symbol.asyncDispose]: async () => created[Symbol.asyncDispose]?.() };
}
const batch = (count: number, from = 0): Envelope[] =>
  Array.from({ length: count }, (_, index) => fakeEnvelope(from + index));
const write = async (one: Emitter, envelopes: readonly Envelope[]): Promise<WriteResult | undefined> =>
  one.write(envelopes, fakeContext());
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
const linesOf = (body: Uint8Array | undefined): readonly string[] =>
  gunzipSync(body ?? new Uint8Array())
    .toString("utf8")
    .split("\n")
    .slice(0, -1);

describe("one batch is one object", () => {
  test("parity E17: under the hour of its first frame, the node, this instance and a sequence", async () => {
    await using store = await objectStore();
    await using one = await emitter(store.url);
    await write(one, batch(3));
    await write(one, batch(2, 3));
    const keys = [...store.objects.keys()];
    expect(keys).toEqual([
      expect.stringMatching(/^\/trawler-frames\/trawler\/2026\/01\/01\/00\/node-a-[0-9a-f-]{13}-00000001\.ndjson\.gz$/),
      expect.stringMatching(/-00000002\.ndjson\.gz$/),
    ]);
    expect([...store.objects.values()].map((body) => linesOf(body).length)).toEqual([3, 2]);
    expect(store.requests[0]).toMatchObject({ method: "PUT", headers: { "content-type": "application/gzip" } });
  });

  test("uncompressed in another format it has that format's ending and media type", async () => {
    await using store = await objectStore();
    await using one = await emitter(store.url, { ...KEYS, prefix: "", format: "csv", compression: "none" });
    await write(one, batch(1));
    const [[key, body] = []] = store.objects;
    expect(key).toMatch(/^\/trawler-frames\/2026\/01\/01\/00\/node-a-.*\.tsv$/);
    expect(Buffer.from(body ?? []).toString("utf8")).toMatch(/^metadata\t/);
    expect(store.requests[0]?.headers["content-type"]).toContain("text/tab-separated-values");
  });

  test("where an object is: by Amazon's host names, by path, and by a host of its own", () => {
    const settings = (more: object) => s3.config.parse({ bucket: "b-1", region: "eu-central-1", ...KEYS, ...more });
    const origin = (more: object) => {
      const { origin: at, path } = addressOf(settings(more), "k/n=1.gz");
      return `${at}${path}`;
    };
    expect(origin({})).toBe("https://b-1.s3.eu-central-1.amazonaws.com/k/n%3D1.gz");
    expect(origin({ pathStyle: true })).toBe("https://s3.eu-central-1.amazonaws.com/b-1/k/n%3D1.gz");
    expect(origin({ bucket: "b.1" })).toBe("https://s3.eu-central-1.amazonaws.com/b.1/k/n%3D1.gz");
    expect(origin({ endpoint: "http://store:9000" })).toBe("http://store:9000/b-1/k/n%3D1.gz");
    expect(origin({ endpoint: "http://store:9000", pathStyle: false })).toBe("http://b-1.store:9000/k/n%3D1.gz");
  });
});

describe("what fails", () => {
  test.each<[string, Reply]>([
    ["an answer that is lost after the object was stored", { status: 200, cut: true }],
    ["500", { status: 500, text: errorDocument("InternalError", "Try again.") }],
    ["SlowDown", { status: 503, text: errorDocument("SlowDown", "Reduce your request rate.") }],
    ["credentials that have expired", { status: 400, text: errorDocument("ExpiredToken", "It has expired.") }],
    ["a bucket that is not there yet", { status: 404, text: errorDocument("NoSuchBucket", "It does not exist.") }],
  ])("%s: the batch waits, and goes to the same object later", async (_, reply) => {
    await using store = await objectStore((count) => (count === 1 ? reply : { status: 200 }));
    await using one = await emitter(store.url);
    expect(await failure(write(one, batch(2)))).toMatchObject({
      code: expect.stringMatching(/^TRAWLER_(RETRY|UNAVAILABLE)$/),
    });
    await write(one, batch(3));
    expect(new Set(store.requests.map(({ path }) => path)).size).toBe(1);
    expect([...store.objects.values()].map((body) => linesOf(body).length)).toEqual([3]);
  });

  test("what no later try would change is refused, told by the store's code, and does not hold up the next", async () => {
    const text = errorDocument("AuthorizationHeaderMalformed", "the region 'us-east-1' is wrong");
    await using store = await objectStore((count) => (count === 1 ? { status: 400, text } : { status: 200 }));
    await using one = await emitter(store.url);
    const { rejected } = (await write(one, batch(2))) ?? {};
    expect(rejected).toHaveLength(2);
    expect(rejected?.[0]).toMatchObject({
      code: "TRAWLER_REFUSED",
      message: expect.stringContaining("400: AuthorizationHeaderMalformed: the region 'us-east-1' is wrong"),
    });
    expect(await write(one, batch(1, 2))).toBeUndefined();
    expect(store.objects.size).toBe(1);
  });

  test("a clock that differs is told with the store's time", async () => {
    const text = errorDocument("RequestTimeTooSkewed", "Too large.", "<ServerTime>2026-01-01T12:00:00Z</ServerTime>");
    await using store = await objectStore(() => ({ status: 403, text }));
    await using one = await emitter(store.url);
    expect(await failure(write(one, batch(1)))).toMatchObject({
      code: "TRAWLER_RETRY",
      message: expect.stringContaining("this node's clock and the store's (2026-01-01T12:00:00Z) differ too much"),
    });
  });

  test("a wrong key is told by the store's code; no key stands in the error", async () => {
    await using store = await objectStore();
    await using one = await emitter(store.url, { ...KEYS, secretAccessKey: "hunter2" });
    const error = await failure(write(one, batch(1)));
    expect(error).toMatchObject({ message: expect.stringContaining("403: SignatureDoesNotMatch") });
    expect(String(error)).not.toMatch(/hunter2|not-a-real/);
  });
});

test("credentials of a file are read at each request", async () => {
  await using store = await objectStore();
  const credentialsFile = join(folder, "credentials");
  await using one = await emitter(store.url, { credentialsFile, profile: "frames" });
  expect(await failure(write(one, batch(1)))).toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
  const file = (secret: string) => `[frames]\naws_access_key_id=${KEYS.accessKeyId}\naws_secret_access_key=${secret}\n`;
  writeFileSync(credentialsFile, file("old"));
  expect(await failure(write(one, batch(1)))).toMatchObject({ code: "TRAWLER_RETRY" });
  writeFileSync(credentialsFile, file(SECRET));
  expect(await write(one, batch(1))).toBeUndefined();
});

test.each([
  ["no credentials", {}],
  ["credentials twice", { ...KEYS, credentialsFile: "/a" }],
  ["a bucket in upper case", { ...KEYS, bucket: "Frames" }],
  ["a prefix that climbs", { ...KEYS, prefix: "/a" }],
  ["an endpoint with a path", { ...KEYS, endpoint: "https://store.example/b" }],
])("%s is refused before anything is sent", (_, settings) => {
  expect(s3.config.safeParse({ bucket: "trawler-frames", ...settings }).success).toBe(false);
});
