import { describe, expect, test } from "vitest";
import type { FiguresEvent, GapEvent, InventoryQuery } from "../../src/index.ts";
import { absent, bytes, type Ledger, type OpenLedger, object } from "../harness.ts";

const T = 1_800_000_000_000;

const uids = async (book: Ledger, query: InventoryQuery) =>
  (await book.store.query(query)).records.map(({ uid }) => uid);

/** a: 10-30 on node-a; b: 20-50 on node-b; c: from 40 on node-a, still there. */
async function filled(open: OpenLedger): Promise<Ledger> {
  const book = await open();
  const createdAt = new Date(T + 10_000).toISOString();
  const at = (second: number) => ({ receivedAt: T + second * 1000 });
  const owner = { kind: "ReplicaSet", name: "web-1", uid: "rs" };
  await book.apply(object("added", "a", 1, { ...at(10), createdAt, owner }));
  await book.apply(object("added", "b", 2, { ...at(20), createdAt: "2999-01-01T00:00:00Z", node: "node-b" }));
  await book.apply(object("deleted", "a", 3, { ...at(30), createdAt, owner, exit: 1 }));
  await book.apply(object("added", "c", 4, { ...at(40), createdAt: "2999-01-01T00:00:00Z" }));
  await book.apply(absent("b", 5, T + 45_000, T + 50_000));
  return book;
}

/** What can be asked of a store, and in which order it tells of its changes. */
export function queryContract(open: OpenLedger): void {
  describe("time travel", () => {
    test("B7: who was there at a time, and between two", async () => {
      await using book = await filled(open);
      const at = (second: number): InventoryQuery => ({ between: [T + second * 1000, T + second * 1000] });
      expect(await uids(book, at(5))).toEqual([]);
      expect(await uids(book, at(15))).toEqual(["a"]);
      expect(await uids(book, at(25))).toEqual(["b", "a"]);
      expect(await uids(book, at(35))).toEqual(["b"]);
      expect(await uids(book, at(47))).toEqual(["c", "b"]);
      expect(await uids(book, at(99))).toEqual(["c"]);
      expect(await uids(book, { between: [T + 12_000, T + 41_000] })).toEqual(["c", "b", "a"]);
    });

    test("B7: by node, namespace, name, end and kind", async () => {
      await using book = await filled(open);
      expect(await uids(book, { node: "node-a", between: [T, T + 99_000] })).toEqual(["c", "a"]);
      expect(await uids(book, { node: "node-a", deleted: true })).toEqual(["a"]);
      expect(await uids(book, { namespace: "shop" })).toEqual(["c"]);
      expect(await uids(book, { namespace: "shop", deleted: true })).toEqual(["b", "a"]);
      expect(await uids(book, { namespace: "other", between: [0, 9e15] })).toEqual([]);
      expect(await uids(book, { name: "b", deleted: true, kind: "Pod" })).toEqual(["b"]);
      expect(await uids(book, { kind: "Node", between: [0, 9e15] })).toEqual([]);
    });

    test("by owner, through the chain as far as it is known", async () => {
      await using book = await filled(open);
      const byOwner = (kind: string, name: string) => uids(book, { kind: "Pod", owner: { kind, name }, deleted: true });
      expect(await byOwner("ReplicaSet", "web-1")).toEqual(["a"]);
      expect(await byOwner("Deployment", "web")).toEqual([]);
      const set = {
        kind: "ReplicaSet",
        metadata: {
          uid: "rs",
          name: "web-1",
          namespace: "shop",
          ownerReferences: [{ kind: "Deployment", name: "web", uid: "d", controller: true }],
        },
      };
      await book.apply(object("listed", "rs", 7, { kind: "ReplicaSet", stream: "replicasets", payload: bytes(set) }));
      expect(await byOwner("Deployment", "web")).toEqual(["a"]);
      expect(await byOwner("StatefulSet", "web")).toEqual([]);
      expect((await book.store.show("a"))[0]?.owners.map(({ kind, name }) => `${kind}/${name}`)).toEqual([
        "ReplicaSet/web-1",
        "Deployment/web",
      ]);
    });

    test("answers come in pages", async () => {
      await using book = await open();
      await book.apply(...Array.from({ length: 25 }, (_, index) => object("added", `u${index}`, index)));
      const seen: string[] = [];
      let after: number | null = null;
      do {
        const answer = await book.store.query({ limit: 10, ...(after === null ? {} : { after }) });
        seen.push(...answer.records.map(({ uid }) => uid));
        after = answer.next;
      } while (after !== null);
      expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `u${24 - index}`));
    });

    test("a name that is asked for is no SQL", async () => {
      await using book = await filled(open);
      expect((await book.store.query({ owner: { kind: "Job", name: "'; DROP TABLE records; --" } })).records).toEqual(
        [],
      );
      expect(await uids(book, {})).toEqual(["c"]);
    });
  });

  describe("gaps", () => {
    const gap: GapEvent = {
      type: "gap",
      stream: "pods",
      kind: "Pod",
      epoch: 0,
      receivedAt: T + 50_000,
      reason: "expired",
      from: T + 42_000,
      to: T + 50_000,
      fromVersion: "4",
      toVersion: "90",
      note: "410",
    };

    test("B23, B25: an answer about a time with a gap says that it may not be complete, and names the gap", async () => {
      await using book = await filled(open);
      expect((await book.store.query({ between: [T, T + 99_000] })).complete).toBe(true);
      await book.apply(gap);
      const answer = await book.store.query({ between: [T + 41_000, T + 43_000] });
      expect(answer).toMatchObject({
        complete: false,
        gaps: [{ id: 1, reason: "expired", fromVersion: "4", note: "410" }],
      });
      expect(answer.records.map(({ uid, gaps }) => [uid, gaps])).toEqual([
        ["c", [1]],
        ["b", [1]],
      ]);
      expect(await book.store.query({ between: [T + 10_000, T + 12_000] })).toMatchObject({ complete: true, gaps: [] });
      expect((await book.store.query({})).complete).toBe(true);
      expect((await book.store.query({ kind: "Node", between: [T, T + 99_000] })).complete).toBe(true);
      expect(await book.store.gaps([T + 60_000, T + 70_000])).toEqual([]);
      expect((await book.store.status()).gaps).toBe(1);
    });
  });

  describe("last figures", () => {
    const figures = (uid: string, part: number, count: number, time = "2026-01-01T00:00:05.000Z"): FiguresEvent => ({
      type: "figures",
      stream: "frames",
      uid,
      epoch: 0,
      receivedAt: T + 60_000,
      payload: bytes({
        schema: "trawler.frame/1",
        time,
        reason: "ended",
        part: { index: part, count },
        resource: {
          "k8s.pod.uid": uid,
          "k8s.pod.name": "job-x",
          "k8s.namespace.name": "shop",
          "k8s.node.name": "node-z",
        },
        features: [{ type: "cpu", key: "cpu", value: { "cpu.time": 2 } }],
        containers: [
          {
            name: `c${part}`,
            id: "id",
            image: "busybox",
            state: { status: "terminated", exitCode: 9 },
            features: [{ type: "memory", key: "memory", value: { "memory.peak": 1000, "memory.usage": 10 } }],
          },
        ],
      }),
    });

    test("are joined to the record of the pod, all parts of a frame that was split", async () => {
      await using book = await filled(open);
      await book.apply(figures("a", 0, 2), figures("a", 1, 2));
      const [record] = await book.store.show("a");
      expect(record?.figures).toMatchObject({
        features: [{ type: "cpu" }],
        containers: [{ name: "c0" }, { name: "c1" }],
      });
      const used = { at: "2026-01-01T00:00:05.000Z", cpuSeconds: 2, memoryBytes: 1000 };
      expect(record).toMatchObject({ exitCode: 1, end: { evidence: "watch" }, used });
      await book.apply(figures("a", 0, 1, "2025-01-01T00:00:05.000Z"));
      expect((await book.store.show("a"))[0]).toMatchObject({ figures: { time: "2026-01-01T00:00:05.000Z" }, used });
    });

    test("B24: a pod that only its node saw becomes a record of unknown final state", async () => {
      await using book = await open();
      await book.apply(figures("ghost", 0, 1));
      expect(await book.store.show("ghost")).toMatchObject([
        {
          name: "job-x",
          namespace: "shop",
          node: "node-z",
          exitCode: 9,
          end: { evidence: "node", finalState: "unknown" },
        },
      ]);
      await book.apply(object("added", "ghost", 5, { name: "job-x" }));
      expect(await book.store.show("ghost")).toMatchObject([{ end: null, node: "node-a" }]);
      await book.apply(object("deleted", "ghost", 6, { name: "job-x", exit: 9 }));
      expect(await book.store.show("ghost")).toMatchObject([
        { end: { evidence: "watch", finalState: "exact" }, figures: { reason: "ended" } },
      ]);
    });

    test("what is no frame is set aside", async () => {
      await using book = await open();
      await book.apply({ ...figures("a", 0, 1), payload: bytes("nonsense") });
      expect(await book.store.status()).toMatchObject({ quarantined: 1, live: 0, deleted: 0 });
    });
  });

  test("B51: changes after a cursor, each record once with its latest state, in the order of the commits", async () => {
    await using book = await open();
    await book.apply(object("added", "u1", 1), object("added", "u2", 2));
    const first = await book.store.changes(0, 10);
    expect(first.map(({ record }) => record.uid)).toEqual(["u1", "u2"]);
    const cursor = first.at(-1)?.cursor ?? 0;
    expect(await book.store.changes(cursor, 10)).toEqual([]);
    await book.apply(object("deleted", "u1", 3));
    expect((await book.store.changes(cursor, 10)).map(({ record }) => [record.uid, record.end?.evidence])).toEqual([
      ["u1", "watch"],
    ]);
    expect((await book.store.changes(0, 1)).map(({ record }) => record.uid)).toEqual(["u2"]);
  });

  test("B29: of which queues is known what was applied: the latest used, whatever comes and goes beside them", async () => {
    await using book = await open();
    const apply = (queue: string, sequence: number) =>
      book.store.apply({
        queue,
        events: [{ sequence, event: object("modified", queue, sequence) }],
        token: 0,
      });
    await apply("old", 5);
    await apply("kept", 5);
    for (let index = 0; index < 80; index += 1) {
      await apply(`passing${index}`, 1);
      if (index % 10 === 0) await apply("kept", 6 + index);
    }
    await book.reopen();
    expect(await book.store.applied("kept")).toBe(76);
    expect(await book.store.applied("passing79")).toBe(1);
    expect(await book.store.applied("passing0")).toBe(0);
    expect(await book.store.applied("old")).toBe(0);
    // What it holds still and was applied is known by its versions.
    expect(await apply("old", 5)).toMatchObject({ sequence: 5, changed: 0 });
    expect((await book.store.query({})).records).toHaveLength(82);
  });

  test("B6: what is beyond the count goes, the oldest first, in steps", async () => {
    await using book = await open();
    const names = Array.from({ length: 12 }, (_, index) => `u${index}`);
    await book.apply(...names.map((name, index) => object("added", name, index + 1)));
    await book.apply(...names.slice(0, 10).map((name, index) => object("deleted", name, index + 20)));
    // One that lives again, by the word of the server.
    await book.apply(absent("u10", 40, T, T + 1), object("modified", "u10", 41));
    const keep = { days: 36_500, rows: 4 };
    expect(await book.store.purgeable(keep, T)).toBe(6);
    expect(await book.store.purge(keep, T, 4)).toBe(4);
    expect(await book.store.purge(keep, T, 4)).toBe(2);
    expect(await book.store.purge(keep, T, 4)).toBe(0);
    expect((await book.store.query({ deleted: true })).records.map(({ uid }) => uid)).toEqual(["u9", "u8", "u7", "u6"]);
    expect(await book.store.status()).toMatchObject({ live: 2, deleted: 4 });
  });

  describe("B51: a consumer with a cursor", () => {
    const year = { days: 365, rows: 1_000_000 };

    test("is told each record once with its latest state, in commit order, and of what was purged; a restart changes nothing", async () => {
      await using book = await open();
      expect((await book.store.feed(null, 10)).entries).toEqual([]);
      await book.apply(object("added", "u1", 1), object("added", "u2", 2), object("deleted", "u1", 3));
      const first = await book.store.feed(null, 1);
      expect(first.entries.map(({ uid }) => uid)).toEqual(["u1"]);
      await book.reopen();
      const rest = await book.store.feed(first.next, 10);
      expect(rest.entries.map(({ uid, record }) => [uid, record?.end ?? null])).toEqual([["u2", null]]);
      expect(await book.store.feed(rest.next, 10)).toEqual({ entries: [], next: rest.next });
      expect(await book.store.purge({ days: 1, rows: 1_000_000 }, 1_900_000_000_000, 100)).toBe(1);
      await book.apply(object("modified", "u2", 4));
      expect((await book.store.feed(rest.next, 10)).entries.map(({ uid, record }) => [uid, record === null])).toEqual([
        ["u1", true],
        ["u2", false],
      ]);
    });

    test("a cursor of another store, of the future, or of what is forgotten has expired", async () => {
      await using book = await open();
      await using other = await open();
      await book.apply(object("added", "u1", 1));
      await other.apply(object("added", "u1", 1));
      const { next } = await book.store.feed(null, 10);
      for (const cursor of [(await other.store.feed(null, 10)).next, `${next}0`, "1", "x-1", ""]) {
        await expect((async () => book.store.feed(cursor, 10))()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
      }
      expect(await book.store.purge(year, 0, 10)).toBe(0);
      expect((await book.store.feed(next, 10)).entries).toEqual([]);
    });
  });
}
