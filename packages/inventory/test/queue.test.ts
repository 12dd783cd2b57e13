import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { type InventoryEvent, openQueue, type QueuedEvent } from "../src/index.ts";
import { between } from "../src/queue/compact.ts";
import { bytes, folder, object, pod } from "./harness.ts";

const event = (index: number, size = 100) =>
  object("added", `u${index}`, index, { payload: bytes({ index, fill: "x".repeat(size) }) });

/** Events with their bytes as a digest: quick to compare. */
const plain = (events: readonly InventoryEvent[]) =>
  events.map((found) =>
    "payload" in found ? { ...found, payload: createHash("sha256").update(found.payload).digest("hex") } : found,
  );
const inQueue = (queued: readonly QueuedEvent[]) => plain(queued.map(({ event: found }) => found));

test("B28: what was appended is read back in order, with its bytes, after closing and opening", async () => {
  using place = folder();
  const file = place.file("queue.db");
  const events = Array.from({ length: 700 }, (_, index) => event(index + 1, index));
  {
    await using queue = await openQueue({ file });
    expect(await queue.append(events.slice(0, 300))).toBe(300);
    expect(await queue.append(events.slice(300))).toBe(700);
    expect(queue.status()).toMatchObject({ durable: 700, pending: 0, pendingBytes: 0, fault: null });
  }
  await using queue = await openQueue({ file });
  expect(queue.status().durable).toBe(700);
  const read = await queue.read(0, 1000);
  expect(read.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  expect(inQueue(read)).toEqual(plain(events));
  expect((await queue.read(699, 10)).map(({ sequence }) => sequence)).toEqual([700]);
});

test("events of all kinds survive as they are", async () => {
  using place = folder();
  await using queue = await openQueue({ file: place.file("queue.db") });
  const at = { stream: "pods", epoch: 3, receivedAt: 5 };
  const all = [
    { ...at, type: "bookmark", resourceVersion: "90071992547409931", asOf: 1 } as const,
    { ...at, type: "merged", kind: "Pod", uid: "u", resourceVersion: "8" } as const,
    { ...at, type: "absent", kind: "Pod", uid: "u", resourceVersion: null, notBefore: 1, notAfter: 2 } as const,
    { ...at, type: "figures", uid: "u", payload: bytes(pod("u", 1)) } as const,
    object("deleted", "u", 7, { payload: new Uint8Array(0), truncated: true }),
    object("added", "raw", 8, { payload: new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0, 1, 2]) }),
  ];
  await queue.append(all);
  expect(inQueue(await queue.read(0, 10))).toEqual(plain(all));
});

test("what is released is let go of, and its sequences are never used again", async () => {
  using place = folder();
  const file = place.file("queue.db");
  {
    await using queue = await openQueue({ file });
    await queue.append(Array.from({ length: 500 }, (_, index) => event(index)));
    queue.release(500);
    await expect.poll(() => queue.status().released).toBe(500);
    expect(await queue.read(0, 10)).toEqual([]);
  }
  await using queue = await openQueue({ file });
  expect(await queue.append([event(1)])).toBe(501);
});

test("B36, Failure 13: beyond its bounds in memory the queue asks its reader to wait, and says when there is room", async () => {
  using place = folder();
  await using queue = await openQueue({ file: place.file("queue.db") });
  const big = new Uint8Array(8 * 1024 * 1024);
  const appended = Array.from({ length: 5 }, (_, index) => queue.append([{ ...event(index), payload: big }]));
  const room = queue.room();
  expect(room).not.toBeNull();
  await room;
  await Promise.all(appended);
  expect(queue.room()).toBeNull();
  expect((await queue.read(0, 9)).length).toBe(4);
});

test("B35, B37, Failure 25: a full file is a fault that names it; nothing is lost, and it goes on when there is room", async () => {
  using place = folder();
  await using queue = await openQueue({ file: place.file("queue.db"), maxBytes: 1024 * 1024 });
  const noise = (index: number) => {
    const payload = randomBytes(60_000);
    return { ...event(index), payload };
  };
  const events = Array.from({ length: 40 }, (_, index) => noise(index));
  const appended: Promise<number>[] = [];
  for (const one of events.slice(0, 10)) appended.push(queue.append([one]));
  await Promise.all(appended);
  const rest = Promise.all(events.slice(10).map((one) => queue.append([one])));
  await expect.poll(() => queue.status().fault).toMatch(/cannot be written: .*full/);
  const { durable } = queue.status();
  expect(durable).toBeGreaterThanOrEqual(10);
  const seen = [...(await queue.read(0, 100))];
  expect(seen.length).toBeGreaterThanOrEqual(durable);
  expect(inQueue(seen)).toEqual(plain(events.slice(0, seen.length)));
  for (let last = seen.length; last < 40; ) {
    queue.release(last);
    const next = await queue.read(last, 100);
    seen.push(...next);
    last += next.length;
    if (next.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await rest;
  expect(queue.status().fault).toBeNull();
  expect(inQueue(seen)).toEqual(plain(events));
});

test("B36, Failure 13: at its quota the queue drops states between an object's first and last, and goes on without a fault", async () => {
  using place = folder();
  const file = place.file("queue.db");
  const state = (type: "added" | "modified" | "deleted", uid: string, version: number): InventoryEvent =>
    object(type, uid, version, { payload: randomBytes(20_000) });
  const kept: InventoryEvent[] = [];
  const faults: unknown[] = [];
  {
    await using queue = await openQueue({ file, maxBytes: 1024 * 1024 });
    const put = async (event: InventoryEvent): Promise<void> => {
      await queue.append([event]);
      faults.push(queue.status().fault);
    };
    const ends = ["a", "b"].map((uid, index) => state("deleted", uid, 901 + index));
    const firsts = ["a", "b"].map((uid, index) => state("added", uid, 101 + index));
    for (const first of firsts) await put(first);
    // Four times what fits.
    for (let version = 201; version <= 400; version += 1)
      await put(state("modified", version % 2 === 0 ? "a" : "b", version));
    for (const end of ends) await put(end);
    kept.push(...firsts, ...ends);
    expect(faults.every((fault) => fault === null)).toBe(true);
    expect(queue.status().compacted).toBeGreaterThan(150);
    expect(queue.status().durable).toBe(204);
  }
  await using queue = await openQueue({ file });
  const read = await queue.read(0, 1000);
  // Sequences have no holes, and what was dropped still moves the position.
  expect(read.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 204 }, (_, index) => index + 1));
  const versions = read.map(({ event }) => ("resourceVersion" in event ? Number(event.resourceVersion) : 0));
  expect(versions).toEqual([101, 102, ...Array.from({ length: 200 }, (_, index) => 201 + index), 901, 902]);
  const found = read.map(({ event }) => event);
  const whole = found.filter(({ type }) => type === "added" || type === "deleted");
  expect(plain(whole)).toEqual(plain(kept));
  // Nothing is dropped uncounted.
  expect(found.filter(({ type }) => type === "modified" || type === "merged")).toHaveLength(200);
});

test("B36: what was dropped: only states that a later one of the same object replaces", () => {
  const heads: InventoryEvent[] = [
    object("listed", "a", 1),
    object("modified", "a", 2),
    object("modified", "b", 3),
    object("modified", "a", 4, { truncated: true }),
    object("modified", "a", 5, { epoch: 1 }),
    object("modified", "a", 6),
    { ...object("modified", "a", 7), resourceVersion: null },
    object("modified", "a", 8),
    object("deleted", "a", 9),
    object("added", "a", 10, { epoch: 1 }),
    { stream: "pods", epoch: 0, receivedAt: 1, type: "bookmark", resourceVersion: "11", asOf: 1 },
  ];
  const dropped = between(heads.map((head, index) => ({ sequence: index + 1, head })));
  expect([...dropped]).toEqual([2, 6, 8]);
});

test("closing with a full file ends with a reason, not with a hang", async () => {
  using place = folder();
  const file = place.file("queue.db");
  const queue = await openQueue({ file, maxBytes: 256 * 1024 });
  const payload = randomBytes(400_000);
  const appended = queue.append([{ ...event(1), payload }]);
  const outcome = expect(appended).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  await expect.poll(() => queue.status().fault).not.toBeNull();
  await queue.close();
  await outcome;
  await expect(queue.append([event(2)])).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  await using again = await openQueue({ file });
  expect(again.status().durable).toBe(0);
});

test("a file that is no queue is refused", async () => {
  using place = folder();
  await expect(openQueue({ file: place.file("none/queue.db") })).rejects.toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
});
