import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Emitter, WriteResult } from "@trawler/plugin-api";
import {
  fakeClock,
  fakeContext,
  fakeEnvelope,
  fakeHost,
  type HttpReply,
  httpReceiver as receiver,
} from "@trawler/testkit";
import { afterAll, describe, expect, test } from "vitest";
import http from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "trawler-http-"));
afterAll(() => rmSync(folder, { recursive: true }));

const clock = fakeClock();

async function emitter(url: string, settings: object = {}): Promise<Emitter & AsyncDisposable> {
  const created = await http.create(http.config.parse({ url, ...settings }), fakeHost({ clock }));
  return { ...created, [Symbol.asyncDispose]: async () => created[Symbol.asyncDispose]?.() };
}

const batch = (count: number) => Array.from({ length: count }, (_, index) => fakeEnvelope(index));
const write = async (one: Emitter, count: number): Promise<WriteResult> =>
  (await one.write(batch(count), fakeContext())) ?? {};
const codeOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("one batch is one request", () => {
  test.each([200, 201, 202, 204])("parity E1, E4: %d is success, and sent once", async (status) => {
    await using server = await receiver(() => ({ status }));
    await using one = await emitter(server.url);
    expect(await write(one, 3)).toEqual({ rejected: [], retry: [] });
    expect(server.requests).toHaveLength(1);
  });

  test("parity E5: it is JSON lines with their media type, compressed", async () => {
    await using server = await receiver();
    await using one = await emitter(server.url, { headers: { "x-key": "k" } });
    await write(one, 2);
    const [received] = server.requests;
    expect(received?.headers).toMatchObject({
      "content-type": "application/x-ndjson",
      "content-encoding": "gzip",
      "x-key": "k",
    });
    expect(received?.text.split("\n")).toHaveLength(3);
  });

  test("the bearer token is read from its file at each request", async () => {
    await using server = await receiver();
    const tokenFile = join(folder, "token");
    await using one = await emitter(server.url, { tokenFile, compression: "none" });
    for (const token of ["first", "second"]) {
      writeFileSync(tokenFile, `${token}\n`);
      await write(one, 1);
    }
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer first", "Bearer second"]);
  });
});

describe("what fails", () => {
  test.each<[string, HttpReply, string]>([
    ["parity E2: 500", { status: 500, text: "no\r\nroom" }, "answered 500: no room"],
    ["401 until somebody mends it", { status: 401 }, "answered 401"],
    [
      "a redirect, which is not followed",
      { status: 302, headers: { location: "http://127.0.0.1:1/" } },
      "answered 302",
    ],
    ["parity E3: an answer that is cut off", { status: 200, cut: true }, "127.0.0.1"],
  ])("%s keeps the batch for later, with one request", async (_, reply, message) => {
    await using server = await receiver(() => reply);
    await using one = await emitter(server.url);
    const error = await codeOf(write(one, 3));
    expect(error).toMatchObject({
      code: expect.stringMatching(/RETRY|UNAVAILABLE/),
      message: expect.stringContaining(message),
    });
    expect(server.requests).toHaveLength(1);
  });

  test("429: the receiver is left alone for as long as it asked", async () => {
    await using server = await receiver((_, count) =>
      count === 1 ? { status: 429, headers: { "retry-after": "7" } } : { status: 200 },
    );
    await using one = await emitter(server.url);
    expect(await codeOf(write(one, 1))).toMatchObject({ code: "TRAWLER_RETRY" });
    expect(await codeOf(write(one, 1))).toMatchObject({ message: expect.stringContaining("7 s more") });
    expect(server.requests).toHaveLength(1);
    clock.advance(7_000);
    expect(await write(one, 1)).toEqual({ rejected: [], retry: [] });
  });

  test("413: the batch is halved, and only what is too large alone is refused", async () => {
    const large = fakeEnvelope(2).id;
    await using server = await receiver(({ text }) => ({ status: text.includes(large) ? 413 : 200 }));
    await using one = await emitter(server.url);
    const { rejected, retry } = await write(one, 5);
    expect(rejected).toEqual([expect.objectContaining({ id: large, code: "TRAWLER_LIMIT" })]);
    expect(retry).toEqual([]);
  });

  test("400: a bad frame does not take its neighbours with it, and a receiver that refuses all is not flooded", async () => {
    const bad = fakeEnvelope(7).id;
    await using picky = await receiver(({ text }) => ({ status: text.includes(bad) ? 400 : 200 }));
    await using one = await emitter(picky.url);
    expect((await write(one, 16)).rejected?.map(({ id, code }) => [id, code])).toEqual([[bad, "TRAWLER_REFUSED"]]);
    await using wall = await receiver(() => ({ status: 422 }));
    await using other = await emitter(wall.url);
    expect((await write(other, 500)).rejected).toHaveLength(500);
    expect(wall.requests.length).toBeLessThanOrEqual(65);
  });

  test("a failure in the middle of halving keeps what is not known for later", async () => {
    await using server = await receiver((_, count) => ({ status: [413, 200, 503][count - 1] ?? 200 }));
    await using one = await emitter(server.url);
    const { rejected, retry } = await write(one, 4);
    expect(rejected).toEqual([]);
    expect(retry).toEqual(
      batch(4)
        .slice(2)
        .map(({ id }) => id),
    );
  });

  test("no secret stands in an error", async () => {
    await using server = await receiver(() => ({ status: 503 }));
    await using one = await emitter(`${server.url}?key=hunter2`, { headers: { authorization: "Basic c2VjcmV0" } });
    expect(String(await codeOf(write(one, 1)))).not.toMatch(/hunter2|c2VjcmV0/);
  });
});

test("an address with a password is refused before anything is sent", () => {
  expect(http.config.safeParse({ url: "https://user:hunter2@collector.example/" }).success).toBe(false);
});

const openssl = (() => {
  try {
    execFileSync("openssl", ["version"]);
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!openssl)(
  "https: a CA of our own is trusted, a foreign certificate is not (without openssl: skipped)",
  async () => {
    const key = join(folder, "key.pem");
    const ca = join(folder, "ca.pem");
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "1",
        "-keyout",
        key,
        "-out",
        ca,
        ...subject,
      ],
      { stdio: "ignore" },
    );
    const credentials = { key: readFileSync(key), cert: readFileSync(ca) };
    await using server = await receiver(undefined, (listener) => createServer(credentials, listener));
    const url = server.url.replace("http:", "https:");
    await using trusting = await emitter(url, { tls: { ca } });
    expect(await write(trusting, 1)).toEqual({ rejected: [], retry: [] });
    await using wary = await emitter(url);
    expect(await codeOf(write(wary, 1))).toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
  },
);
