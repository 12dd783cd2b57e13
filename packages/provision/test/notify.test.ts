import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Logger } from "@trawler/plugin-api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../src/instance/settings.ts";
import type { Report } from "../src/journal/record.ts";
import { Deliverer } from "../src/notify/deliver.ts";
import { notificationOf } from "../src/notify/notification.ts";
import type { Notifier } from "../src/notify/notifier.ts";
import { signatureOf, webhookNotifier } from "../src/notify/webhook.ts";
import { ServiceStore } from "../src/serve/store.ts";
import { itemOf } from "./item.ts";
import { until } from "./serving.ts";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that answers in turn what it is told, and 204 from then on. */
class Receiver implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server: Server;

  private constructor(answers: (readonly [status: number, headers?: Readonly<Record<string, string>>])[]) {
    this.#server = createServer(async (incoming, response) => {
      this.received.push({ headers: incoming.headers, body: await text(incoming) });
      const [status, headers = {}] = answers.shift() ?? [204];
      response.writeHead(status, headers).end();
    });
  }

  static async open(...answers: (readonly [number, Readonly<Record<string, string>>?])[]): Promise<Receiver> {
    const receiver = new Receiver(answers);
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/hook`;
  }

  get ids(): readonly unknown[] {
    return this.received.map(({ headers }) => headers["webhook-id"]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

const report: Report = {
  instance: "01m8qpv3012davbr68mykrpn1d",
  template: "shop",
  digest: "d",
  namespace: "shop",
  server: "api.example.test",
  createdAt: "2026-01-01T00:00:00.000Z",
  endedAt: "2026-01-01T00:00:09.000Z",
  state: "PARTIAL",
  settings: DEFAULT_SETTINGS,
  headline: "ConfigMap shop/b: refused",
  rollback: "incomplete",
  ready: null,
  leftovers: [],
  evidence: [{ index: 0, lines: ["a line of a log"] }],
  warnings: ["w"],
  objects: [itemOf({ index: 0, name: "a", status: "created", uid: "u" })],
};

let folder = "";
const lines: string[] = [];
const log = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
const logger: Logger = { debug: log, info: log, warn: log, error: log };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-outbox-"));
  lines.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

function outbox(store: ServiceStore, ids: readonly string[], targets: readonly string[] = ["webhook"]): void {
  for (const id of ids) {
    store.addTask({ instance: id, action: "work" });
    store.endTask(
      id,
      targets.map((target) => ({ target, id, instance: id, body: `{"id":"${id}"}` })),
      0,
    );
  }
}

/** Runs a deliverer until nothing waits any more. */
async function deliver(store: ServiceStore, notifiers: readonly Notifier[], attempts = 5): Promise<void> {
  const stop = new AbortController();
  const pauses = [1, 4] as const;
  const running = new Deliverer({ store, notifiers, log: logger, now: Date.now, pauses, attempts }).run(stop.signal);
  await until(() => store.outbox.waiting === 0);
  stop.abort();
  await running;
}

test("P30: a notification says what came of it: states and ids, no body, no evidence; the same end has the same id", () => {
  const notification = notificationOf(report);
  expect(notification).toMatchObject({ state: "PARTIAL", instance: report.instance, headline: report.headline });
  expect(notification.objects).toMatchObject([{ name: "a", uid: "u", status: "created" }]);
  expect(JSON.stringify(notification)).not.toContain("a line of a log");
  expect(notificationOf({ ...report, warnings: [] }).id).toBe(notification.id);
  expect(notificationOf({ ...report, endedAt: "2026-01-02T00:00:00.000Z" }).id).not.toBe(notification.id);
});

test("what is not taken is sent again with the same id and bytes until it is; the others wait behind it no longer than that", async () => {
  await using receiver = await Receiver.open([500], [503]);
  using store = new ServiceStore(folder);
  outbox(store, ["one", "two"]);
  await deliver(store, [webhookNotifier({ url: receiver.url, secret: null, now: Date.now })]);
  expect(receiver.ids.toSorted()).toEqual(["one", "one", "two", "two"]);
  expect(new Set(receiver.received.map(({ body }) => body))).toEqual(new Set(['{"id":"one"}', '{"id":"two"}']));
});

test("redirects are not followed, and are failures; after its attempts a notification is given up and told", async () => {
  await using receiver = await Receiver.open([307, { location: "/hook" }], [301, { location: "/hook" }], [404]);
  using store = new ServiceStore(folder);
  outbox(store, ["one"]);
  await deliver(store, [webhookNotifier({ url: receiver.url, secret: null, now: Date.now })], 3);
  expect(receiver.received).toHaveLength(3);
  expect(store.outbox).toEqual({ waiting: 0, givenUp: 1 });
  expect(lines.join("\n")).toMatch(/HTTP 307.*HTTP 301.*given up.*HTTP 404/s);
});

test("Retry-After is heeded, in seconds and as a date, and believed for an hour at most", async () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  await using receiver = await Receiver.open(
    [503, { "retry-after": "7" }],
    [429, { "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }],
    [503, { "retry-after": "999999" }],
    [503, { "retry-after": "soon" }],
  );
  const notifier = webhookNotifier({ url: receiver.url, secret: null, now: () => now });
  const { signal } = new AbortController();
  const waits: (number | null)[] = [];
  for (let at = 0; at < 4; at++) {
    const delivery = await notifier.send({ id: "i", instance: "i", body: "{}" }, signal);
    waits.push(delivery.ok ? -1 : delivery.retryAfter);
  }
  expect(waits).toEqual([7_000, 30_000, 3_600_000, null]);
});

test("signatures are those of Standard Webhooks; the secret is read anew for each attempt", async () => {
  await using receiver = await Receiver.open();
  const secret = `whsec_${Buffer.from("a secret of 24 bytes or so").toString("base64")}`;
  const secrets = [secret, "plain text"];
  const notifier = webhookNotifier({
    url: receiver.url,
    secret: async () => secrets.shift() ?? "",
    now: () => 1_700_000_000_999,
  });
  const { signal } = new AbortController();
  for (let at = 0; at < 2; at++) await notifier.send({ id: "msg-1", instance: "i", body: '{"a":1}' }, signal);
  const expected = createHmac("sha256", "a secret of 24 bytes or so")
    .update('msg-1.1700000000.{"a":1}')
    .digest("base64");
  expect(receiver.received[0]?.headers).toMatchObject({
    "content-type": "application/json",
    "webhook-id": "msg-1",
    "webhook-timestamp": "1700000000",
    "webhook-signature": `v1,${expected}`,
  });
  expect(receiver.received[1]?.headers["webhook-signature"]).toBe(
    signatureOf("plain text", "msg-1", "1700000000", '{"a":1}'),
  );
});

test("a receiver that is away, or never answers, holds up no other; the reason is told without the URL's user", async () => {
  await using silent = await Receiver.open();
  const mute = createServer(() => {});
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const address = mute.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`;
  using store = new ServiceStore(folder);
  outbox(store, ["one"], ["webhook", "other"]);
  const slow = webhookNotifier({ url, secret: null, now: Date.now, timeout: 100 });
  const quick = { ...webhookNotifier({ url: silent.url, secret: null, now: Date.now }), name: "other" };
  await deliver(store, [slow, quick], 1);
  expect(silent.ids).toEqual(["one"]);
  expect(lines.join("\n")).toContain("no answer in time");
  mute.closeAllConnections();
  mute.close();
  for (const wrong of ["ftp://host/", "no url", "http://user:password@host/"]) {
    expect(() => webhookNotifier({ url: wrong, secret: null, now: Date.now })).toThrow(/webhook's URL/);
  }
});

test("what an earlier process could not send is sent by the next one; receivers that are gone are forgotten", async () => {
  await using receiver = await Receiver.open();
  {
    using store = new ServiceStore(folder);
    outbox(store, ["one"], ["webhook", "kafka"]);
  }
  using store = new ServiceStore(folder);
  await deliver(store, [webhookNotifier({ url: receiver.url, secret: null, now: Date.now })]);
  expect(receiver.ids).toEqual(["one"]);
  expect(lines.join("\n")).toContain("no longer set");
});
