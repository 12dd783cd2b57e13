import { createApiClient, tokenTarget } from "@trawler/kube";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  openAnyReader,
  openAnyStore,
  openCollector,
  openQueue,
  openWriter,
  type PostgresqlSettings,
  type QueuedEvent,
} from "../src/index.ts";
import { bench, clock, lists, PODS, pod, quiet, SPEC } from "./collector-harness.ts";
import { expectNothingLost, killAndFinish } from "./crash.ts";
import { type Folder, folder, object } from "./harness.ts";
import { type PostgresqlServer, postgresqlUnsupported, startPostgresql } from "./postgresql.ts";
import { oracle, script } from "./script.ts";

const unsupported = postgresqlUnsupported();

describe.skipIf(unsupported !== null)(`a real PostgreSQL${unsupported === null ? "" : `: ${unsupported}`}`, () => {
  let server: PostgresqlServer;
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgresql();
  }, 600_000);
  afterAll(() => server.remove());

  const fresh = (): PostgresqlSettings => {
    schemas += 1;
    return { url: server.url(), schema: `faults_${schemas}` };
  };
  const ask = async (text: string): Promise<readonly Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: server.url() });
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(text);
      return rows;
    } finally {
      await client.end();
    }
  };
  const queued = (...events: readonly QueuedEvent["event"][]): readonly QueuedEvent[] =>
    events.map((event, index) => ({ sequence: index + 1, event }));

  test("B29, Failure 14: the writer is killed at random moments: no record lost, none doubled", {
    timeout: 120_000,
  }, async () => {
    using place = folder();
    const target = fresh();
    const run = await killAndFinish(place.path, 4, target);
    await using reader = await openAnyReader(target);
    await expectNothingLost(reader, run);
  });

  test("B35: PostgreSQL crashes and comes back in the middle: a fault, then all of it, once", {
    timeout: 120_000,
  }, async () => {
    using place = folder();
    const store = fresh();
    const events = script(7, 1200);
    await using queue = await openQueue({ file: place.file("queue.db"), commitMilliseconds: 1 });
    await using writer = await openWriter({ queue, store, cluster: "test", flushMilliseconds: 5, flushEvents: 40 });
    const third = events.length / 3;
    await queue.append(events.slice(0, third));
    await expect.poll(() => writer.status().batches).toBeGreaterThan(2);
    await server.stop("kill");
    await queue.append(events.slice(third, 2 * third));
    await expect.poll(() => writer.status().fault).toMatch(/postgresql:\/\/trawler@127/);
    expect(writer.status().fault).not.toContain("s3cret");
    await server.start();
    const last = await queue.append(events.slice(2 * third));
    await expect.poll(() => writer.status().applied).toBe(last);
    expect(writer.status()).toMatchObject({ fault: null, quarantined: 0 });
    await using reader = await openAnyReader(store);
    const { records } = await reader.query({ between: [0, 9e15], limit: 10_000 });
    const told = records.map(({ uid, updates, resourceVersion, end, exitCode }) => ({
      uid,
      updates,
      resourceVersion,
      gone: end !== null,
      exitCode,
    }));
    expect(told.sort((a, b) => a.uid.localeCompare(b.uid))).toEqual(oracle(events));
  });

  test("a reader outlives a restart of the server", async () => {
    const store = fresh();
    await using writing = await openAnyStore(store, "test", 0);
    await writing.apply({ queue: "q", events: queued(object("added", "u1", 1)), token: 0 });
    await using reader = await openAnyReader(store);
    expect((await reader.status()).live).toBe(1);
    await server.stop("kill");
    await expect((async () => reader.status())()).rejects.toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
    await server.start();
    expect((await reader.status()).live).toBe(1);
  });

  test("B38, Failure 24: under a Lease the writer with the newer token takes over; the older one is refused, and stops", async () => {
    using place = folder();
    const store = fresh();
    await using queue = await openQueue({ file: place.file("one.db") });
    await using writer = await openWriter({ queue, store, cluster: "test", token: 4, flushMilliseconds: 10 });
    await writer.flush(await queue.append([object("added", "u1", 1)]));
    await using later = await openAnyStore(store, "test", 5);
    const last = await queue.append([object("added", "u2", 2)]);
    await expect(writer.flush(last)).rejects.toMatchObject({ code: "TRAWLER_BUSY" });
    expect(writer.status()).toMatchObject({ faultCode: "TRAWLER_BUSY", applied: 1 });
    expect(queue.status().released).toBe(1);
    expect(await later.status()).toMatchObject({ live: 1 });
    await expect(openAnyStore(store, "test", 4)).rejects.toMatchObject({ code: "TRAWLER_BUSY" });
    await expect(openAnyStore(store, "test", 0)).rejects.toMatchObject({ code: "TRAWLER_BUSY" });
  });

  test("B38, Failure 24: without a Lease the second collector is refused while the first is connected", async () => {
    const store = fresh();
    {
      await using first = await openAnyStore(store, "test", 0);
      await expect(openAnyStore(store, "test", 0)).rejects.toMatchObject({ code: "TRAWLER_BUSY" });
      expect(await first.apply({ queue: "a", events: queued(object("added", "u1", 1)), token: 0 })).toMatchObject({
        sequence: 1,
      });
    }
    await using second = await openAnyStore(store, "test", 0);
    expect((await second.status()).live).toBe(1);
  });

  test("B38: the same token does not make two writers: the one that opened last may write", async () => {
    const store = fresh();
    await using first = await openAnyStore(store, "test", 3);
    await using second = await openAnyStore(store, "test", 3);
    await expect(
      (async () => first.apply({ queue: "a", events: queued(object("added", "u1", 1)), token: 3 }))(),
    ).rejects.toMatchObject({ code: "TRAWLER_BUSY" });
    await expect((async () => first.purge({ days: 1, rows: 1 }, 0, 10))()).rejects.toMatchObject({
      code: "TRAWLER_BUSY",
    });
    expect(await second.apply({ queue: "b", events: queued(object("added", "u1", 1)), token: 3 })).toMatchObject({
      changed: 1,
    });
  });

  test("two replicas with folders of their own: the standby goes on where the leader stood, without a list, a gap or a double", async () => {
    const store = fresh();
    await using world = await bench((api) => api.put(PODS, pod("a")));
    using one = folder();
    using two = folder();
    using client = createApiClient({ target: tokenTarget({ server: world.api.url }) });
    const replica = async (place: Folder, token: number) => {
      const collector = await openCollector({
        client,
        clock,
        log: quiet,
        cluster: "test",
        folder: place.path,
        postgresql: store,
        kinds: [SPEC],
        token,
        flushMilliseconds: 10,
        flushEvents: 500,
        flushBytes: 4 * 1024 * 1024,
        queueBytes: 1024 ** 3,
        retention: { days: 180, rows: 1_000_000 },
      });
      const stopping = new AbortController();
      const ended = collector.run(stopping.signal).then(
        () => null,
        (error: unknown) => error,
      );
      const stop = async (): Promise<void> => {
        stopping.abort();
        await ended;
        await collector[Symbol.asyncDispose]();
      };
      return { collector, ended, [Symbol.asyncDispose]: stop };
    };
    await using leader = await replica(one, 1);
    await using reader = await openAnyReader(store);
    const known = async (): Promise<readonly string[]> => {
      const { records } = await reader.query({ between: [0, 9e15] });
      return records.map(({ uid, updates, end }) => `${uid} ${updates} ${end?.evidence ?? "live"}`).sort();
    };
    await expect.poll(known).toEqual(["a 1 live"]);
    world.api.put(PODS, pod("b"));
    await expect.poll(known).toEqual(["a 1 live", "b 1 live"]);
    // The leader has lost its Lease and does not know it yet: both follow the same changes for a while.
    await using standby = await replica(two, 2);
    world.api.put(PODS, pod("c"));
    world.api.delete(PODS, "b");
    await expect.poll(known).toEqual(["a 1 live", "b 2 watch", "c 1 live"]);
    expect(await leader.ended).toMatchObject({ code: "TRAWLER_BUSY" });
    world.api.put(PODS, pod("d"));
    await expect.poll(known).toEqual(["a 1 live", "b 2 watch", "c 1 live", "d 1 live"]);
    expect(lists(world.api)).toBe(1);
    expect(await reader.gaps()).toEqual([]);
    expect(standby.collector.status().unready).toBeNull();
    // The first leads again: what its own queue still held is known already.
    await using again = await replica(one, 3);
    world.api.delete(PODS, "a");
    await expect.poll(known).toEqual(["a 2 watch", "b 2 watch", "c 1 live", "d 1 live"]);
    expect(await standby.ended).toMatchObject({ code: "TRAWLER_BUSY" });
    expect(again.collector.status().writer.quarantined).toBe(0);
    expect(lists(world.api)).toBe(1);
  });

  test("Failure 15: a store that is locked by another is a fault within the deadline; it goes on by itself", async () => {
    using place = folder();
    const store = fresh();
    await using queue = await openQueue({ file: place.file("queue.db") });
    await using writer = await openWriter({ queue, store, cluster: "test", flushMilliseconds: 1 });
    const blocker = new pg.Client({ connectionString: server.url() });
    await blocker.connect();
    await blocker.query(`BEGIN; SELECT * FROM ${store.schema}.store FOR UPDATE`);
    const last = await queue.append([object("added", "u1", 1)]);
    await expect.poll(() => writer.status().fault).toMatch(/lock timeout/);
    await blocker.end();
    await expect.poll(() => writer.status().applied).toBe(last);
    expect(writer.status().fault).toBeNull();
  });

  test("B38: a predecessor that was paused within its batch holds off the next writer for a while, not for ever", async () => {
    const store = fresh();
    await (await openAnyStore(store, "test", 1))[Symbol.asyncDispose]();
    const paused = new pg.Client({ connectionString: server.url() });
    paused.on("error", () => {});
    await paused.connect();
    await paused.query(`SET idle_in_transaction_session_timeout = '7s'`);
    await paused.query(`BEGIN; SELECT * FROM ${store.schema}.store FOR UPDATE`);
    await using next = await openAnyStore(store, "test", 2);
    expect(await next.apply({ queue: "q", events: queued(object("added", "u1", 1)), token: 2 })).toMatchObject({
      changed: 1,
    });
    await expect(paused.query("COMMIT")).rejects.toThrow();
  });

  test("B34: a record that PostgreSQL cannot hold is set aside, and the rest of its batch is kept", async () => {
    await using store = await openAnyStore(fresh(), "test", 0);
    // Longer than a key of an index may be, and not to be shortened by compression.
    const long = Array.from({ length: 4000 }, () => Math.random().toString(36).slice(2)).join("");
    const events = queued(object("added", "u1", 1), object("added", long, 2, { name: "b" }), object("added", "u3", 3));
    expect(await store.apply({ queue: "q", events, token: 0 })).toMatchObject({ sequence: 3, quarantined: 1 });
    expect((await store.query({})).records.map(({ uid }) => uid)).toEqual(["u3", "u1"]);
    expect(await store.status()).toMatchObject({ quarantined: 1, applied: 3 });
  });

  describe("what is wrong is said clearly, and never with the password", () => {
    const refused = async (given: Partial<PostgresqlSettings>, cluster = "test"): Promise<unknown> => {
      const error: unknown = await openAnyStore({ ...fresh(), ...given }, cluster, 0).then(
        () => null,
        (cause: unknown) => cause,
      );
      expect(String(error)).not.toContain("s3cret");
      return error;
    };

    test("no server, a wrong password, no such data base, no such host", async () => {
      expect(await refused({ url: "postgresql://u:s3cret@127.0.0.1:1/db" })).toMatchObject({
        code: "TRAWLER_UNAVAILABLE",
        message: expect.stringMatching(/postgresql:\/\/u@127\.0\.0\.1:1\/db: .*ECONNREFUSED/),
      });
      expect(await refused({ url: server.url({ password: "s3cret-wrong" }) })).toMatchObject({
        code: "TRAWLER_DENIED",
        message: expect.stringContaining("password authentication failed"),
      });
      expect(await refused({ url: server.url({ database: "none" }) })).toMatchObject({
        message: expect.stringContaining('database "none" does not exist'),
      });
      expect(await refused({ url: "postgresql://u@no.such.host.invalid/db" })).toMatchObject({
        code: "TRAWLER_UNAVAILABLE",
      });
    });

    test("another cluster's store, one of a newer version, a data base without UTF-8", async () => {
      const target = fresh();
      await (await openAnyStore(target, "one", 0))[Symbol.asyncDispose]();
      expect(await refused(target, "two")).toMatchObject({
        code: "TRAWLER_REFUSED",
        message: expect.stringContaining("cluster one"),
      });
      await ask(`UPDATE ${target.schema}.store SET format = 99`);
      expect(await refused(target, "one")).toMatchObject({
        code: "TRAWLER_REFUSED",
        message: expect.stringContaining("format 99"),
      });
      await expect(openAnyReader(target)).rejects.toMatchObject({ code: "TRAWLER_REFUSED" });
      await ask("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0");
      expect(await refused({ url: server.url({ database: "ascii" }) })).toMatchObject({
        code: "TRAWLER_REFUSED",
        message: expect.stringContaining("SQL_ASCII"),
      });
    });

    test("a user without rights; a reader before the first writer", async () => {
      await ask("CREATE ROLE guest LOGIN PASSWORD 's3cret-guest'");
      expect(await refused({ url: server.url({ user: "guest", password: "s3cret-guest" }) })).toMatchObject({
        code: "TRAWLER_DENIED",
        message: expect.stringContaining("permission denied"),
      });
      await expect(openAnyReader(fresh())).rejects.toMatchObject({
        code: "TRAWLER_UNAVAILABLE",
        message: expect.stringContaining("there is no inventory in schema"),
      });
    });

    test("an address that is none", async () => {
      for (const url of [
        "mysql://u@h/db",
        "postgresql://h/db",
        "postgresql://u@h",
        "x",
        "postgresql://u@h/db?sslmode=off",
      ]) {
        expect(await refused({ url })).toMatchObject({ code: "TRAWLER_CONFIG_INVALID" });
      }
    });

    test("TLS that the server does not speak", async () => {
      expect(await refused({ tls: {} })).toMatchObject({
        code: "TRAWLER_UNAVAILABLE",
        message: expect.stringContaining("does not support SSL"),
      });
    });
  });
});
