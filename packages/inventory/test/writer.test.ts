import { expect, test } from "vitest";
import { openQueue, openStore, openStoreReader, openWriter } from "../src/index.ts";
import { bytes, folder, object } from "./harness.ts";

test("B29, B30: from the queue to the store, without being asked; then the queue is released", async () => {
  using place = folder();
  await using queue = await openQueue({ file: place.file("queue.db") });
  await using writer = await openWriter({
    queue,
    store: place.file("store.db"),
    cluster: "test",
    flushMilliseconds: 10,
  });
  const last = await queue.append([object("added", "u1", 1), object("deleted", "u1", 2, { exit: 4 })]);
  await expect.poll(() => writer.status().applied).toBe(last);
  using reader = openStoreReader(place.file("store.db"));
  expect(reader.query({ deleted: true }).records).toMatchObject([{ uid: "u1", exitCode: 4, cluster: "test" }]);
  await expect.poll(() => queue.status().released).toBe(last);
});

test("flush does not wait for the time of a batch", async () => {
  using place = folder();
  await using queue = await openQueue({ file: place.file("queue.db") });
  const options = { queue, store: place.file("store.db"), cluster: "test", flushMilliseconds: 5000 };
  await using writer = await openWriter(options);
  await writer.flush(
    await queue.append(Array.from({ length: 1200 }, (_, index) => object("added", `u${index}`, index))),
  );
  using reader = openStoreReader(place.file("store.db"));
  expect(reader.status()).toMatchObject({ live: 1200, applied: 1200 });
});

test("B52: closing applies what is durable, and a restart repeats nothing", async () => {
  using place = folder();
  const store = place.file("store.db");
  for (let round = 0; round < 3; round += 1) {
    await using queue = await openQueue({ file: place.file("queue.db") });
    await using writer = await openWriter({ queue, store, cluster: "test", flushMilliseconds: 5000 });
    await queue.append([object("added", `u${round}`, 1)]);
    await writer.close();
    expect(writer.status().applied).toBe(round + 1);
  }
  using reader = openStoreReader(store);
  expect(reader.query({}).records.map(({ uid, updates }) => [uid, updates])).toEqual([
    ["u2", 1],
    ["u1", 1],
    ["u0", 1],
  ]);
});

test("a new queue beside an old store is read from its beginning", async () => {
  using place = folder();
  const store = place.file("store.db");
  for (const name of ["one.db", "two.db"]) {
    await using queue = await openQueue({ file: place.file(name) });
    await using writer = await openWriter({ queue, store, cluster: "test" });
    await writer.flush(await queue.append([object("added", name, 1)]));
  }
  using reader = openStoreReader(store);
  expect(reader.status().live).toBe(2);
});

test("B38, Failure 24: a writer whose token was overtaken is refused, and stops", async () => {
  using place = folder();
  const file = place.file("store.db");
  await using queue = await openQueue({ file: place.file("queue.db") });
  await using writer = await openWriter({ queue, store: file, cluster: "test", token: 4 });
  await writer.flush(await queue.append([object("added", "u1", 1)]));
  using other = openStore(file, "test");
  expect(other.fence(5)).toBe(true);
  expect(other.fence(4)).toBe(false);
  const last = await queue.append([object("added", "u2", 2)]);
  await expect(writer.flush(last)).rejects.toMatchObject({ code: "TRAWLER_BUSY" });
  expect(writer.status()).toMatchObject({ faultCode: "TRAWLER_BUSY", applied: 1 });
  expect(other.status().live).toBe(1);
  expect(queue.status().released).toBe(1);
});

test("another cluster's store is refused", async () => {
  using place = folder();
  openStore(place.file("store.db"), "one")[Symbol.dispose]();
  await using queue = await openQueue({ file: place.file("queue.db") });
  await expect(openWriter({ queue, store: place.file("store.db"), cluster: "two" })).rejects.toMatchObject({
    code: "TRAWLER_REFUSED",
  });
});

test("Failure 15: a store that is locked by another is a fault; nothing is dropped, and it goes on", async () => {
  using place = folder();
  const file = place.file("store.db");
  await using queue = await openQueue({ file: place.file("queue.db") });
  await using writer = await openWriter({ queue, store: file, cluster: "test", flushMilliseconds: 1 });
  const { DatabaseSync } = await import("node:sqlite");
  const blocker = new DatabaseSync(file);
  blocker.exec("BEGIN IMMEDIATE");
  const last = await queue.append([object("added", "u1", 1)]);
  await expect.poll(() => writer.status().fault).toMatch(/locked/);
  expect(await queue.append([object("added", "u2", 2)])).toBe(last + 1);
  blocker.exec("ROLLBACK");
  blocker.close();
  await expect.poll(() => writer.status().applied).toBe(last + 1);
  expect(writer.status().fault).toBeNull();
});

test("B6: what is over its time goes in small steps while the writer works", async () => {
  using place = folder();
  const file = place.file("store.db");
  await using queue = await openQueue({ file: place.file("queue.db") });
  await using writer = await openWriter({ queue, store: file, cluster: "test" });
  const events = Array.from({ length: 1000 }, (_, index) =>
    object("deleted", `u${index}`, index + 1, {
      receivedAt: 1_000 + index,
      payload: bytes({ metadata: { name: "x" } }),
    }),
  );
  await writer.flush(await queue.append(events));
  using store = openStore(file, "test");
  expect(store.purgeable({ days: 1, rows: 10_000 }, 86_400_000 + 1_500)).toBe(500);
  expect(store.purgeable({ days: 999, rows: 900 }, 2_000)).toBe(100);
  expect(store.purge({ days: 1, rows: 10_000 }, 86_400_000 + 1_500, 200)).toBe(200);
  expect(store.purge({ days: 1, rows: 10_000 }, 86_400_000 + 1_500, 1_000)).toBe(300);
  expect(store.purge({ days: 1, rows: 10_000 }, 86_400_000 + 1_500, 1_000)).toBe(0);
  expect(store.status().deleted).toBe(500);
});
