import { describe, expect, test } from "vitest";
import {
  type FiguresEvent,
  type GapEvent,
  type InventoryEvent,
  type InventoryQuery,
  openStore,
  type Store,
} from "../src/index.ts";
import { absent, bytes, folder, type Ledger, ledger, object } from "./harness.ts";

const T = 1_800_000_000_000;

const uids = (book: Ledger, query: InventoryQuery) => book.store.query(query).records.map(({ uid }) => uid);

/** a: 10-30 on node-a; b: 20-50 on node-b; c: from 40 on node-a, still there. */
function filled(): Ledger {
  const book = ledger();
  const createdAt = new Date(T + 10_000).toISOString();
  const at = (second: number) => ({ receivedAt: T + second * 1000 });
  const owner = { kind: "ReplicaSet", name: "web-1", uid: "rs" };
  book.apply(object("added", "a", 1, { ...at(10), createdAt, owner }));
  book.apply(object("added", "b", 2, { ...at(20), createdAt: "2999-01-01T00:00:00Z", node: "node-b" }));
  book.apply(object("deleted", "a", 3, { ...at(30), createdAt, owner, exit: 1 }));
  book.apply(object("added", "c", 4, { ...at(40), createdAt: "2999-01-01T00:00:00Z" }));
  book.apply(absent("b", 5, T + 45_000, T + 50_000));
  return book;
}

describe("time travel", () => {
  test("B7: who was there at a time, and between two", () => {
    using book = filled();
    const at = (second: number): InventoryQuery => ({ between: [T + second * 1000, T + second * 1000] });
    expect(uids(book, at(5))).toEqual([]);
    expect(uids(book, at(15))).toEqual(["a"]);
    expect(uids(book, at(25))).toEqual(["b", "a"]);
    expect(uids(book, at(35))).toEqual(["b"]);
    expect(uids(book, at(47))).toEqual(["c", "b"]);
    expect(uids(book, at(99))).toEqual(["c"]);
    expect(uids(book, { between: [T + 12_000, T + 41_000] })).toEqual(["c", "b", "a"]);
  });

  test("B7: by node, namespace, name, end and kind", () => {
    using book = filled();
    expect(uids(book, { node: "node-a", between: [T, T + 99_000] })).toEqual(["c", "a"]);
    expect(uids(book, { node: "node-a", deleted: true })).toEqual(["a"]);
    expect(uids(book, { namespace: "shop" })).toEqual(["c"]);
    expect(uids(book, { namespace: "shop", deleted: true })).toEqual(["b", "a"]);
    expect(uids(book, { namespace: "other", between: [0, 9e15] })).toEqual([]);
    expect(uids(book, { name: "b", deleted: true, kind: "Pod" })).toEqual(["b"]);
    expect(uids(book, { kind: "Node", between: [0, 9e15] })).toEqual([]);
  });

  test("by owner, through the chain as far as it is known", () => {
    using book = filled();
    const byOwner = (kind: string, name: string) => uids(book, { kind: "Pod", owner: { kind, name }, deleted: true });
    expect(byOwner("ReplicaSet", "web-1")).toEqual(["a"]);
    expect(byOwner("Deployment", "web")).toEqual([]);
    const set = {
      kind: "ReplicaSet",
      metadata: {
        uid: "rs",
        name: "web-1",
        namespace: "shop",
        ownerReferences: [{ kind: "Deployment", name: "web", uid: "d", controller: true }],
      },
    };
    book.apply(object("listed", "rs", 7, { kind: "ReplicaSet", stream: "replicasets", payload: bytes(set) }));
    expect(byOwner("Deployment", "web")).toEqual(["a"]);
    expect(byOwner("StatefulSet", "web")).toEqual([]);
    expect(book.store.show("a")[0]?.owners.map(({ kind, name }) => `${kind}/${name}`)).toEqual([
      "ReplicaSet/web-1",
      "Deployment/web",
    ]);
  });

  test("answers come in pages", () => {
    using book = ledger();
    book.apply(...Array.from({ length: 25 }, (_, index) => object("added", `u${index}`, index)));
    const seen: string[] = [];
    let after: number | null = null;
    do {
      const answer = book.store.query({ limit: 10, ...(after === null ? {} : { after }) });
      seen.push(...answer.records.map(({ uid }) => uid));
      after = answer.next;
    } while (after !== null);
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `u${24 - index}`));
  });

  test("a name that is asked for is no SQL", () => {
    using book = filled();
    expect(book.store.query({ owner: { kind: "Job", name: "'; DROP TABLE records; --" } }).records).toEqual([]);
    expect(uids(book, {})).toEqual(["c"]);
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

  test("B23, B25: an answer about a time with a gap says that it may not be complete, and names the gap", () => {
    using book = filled();
    expect(book.store.query({ between: [T, T + 99_000] }).complete).toBe(true);
    book.apply(gap);
    const answer = book.store.query({ between: [T + 41_000, T + 43_000] });
    expect(answer).toMatchObject({
      complete: false,
      gaps: [{ id: 1, reason: "expired", fromVersion: "4", note: "410" }],
    });
    expect(answer.records.map(({ uid, gaps }) => [uid, gaps])).toEqual([
      ["c", [1]],
      ["b", [1]],
    ]);
    expect(book.store.query({ between: [T + 10_000, T + 12_000] })).toMatchObject({ complete: true, gaps: [] });
    expect(book.store.query({}).complete).toBe(true);
    expect(book.store.query({ kind: "Node", between: [T, T + 99_000] }).complete).toBe(true);
    expect(book.store.gaps([T + 60_000, T + 70_000])).toEqual([]);
    expect(book.store.status().gaps).toBe(1);
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

  test("are joined to the record of the pod, all parts of a frame that was split", () => {
    using book = filled();
    book.apply(figures("a", 0, 2), figures("a", 1, 2));
    const [record] = book.store.show("a");
    expect(record?.figures).toMatchObject({
      features: [{ type: "cpu" }],
      containers: [{ name: "c0" }, { name: "c1" }],
    });
    const used = { at: "2026-01-01T00:00:05.000Z", cpuSeconds: 2, memoryBytes: 1000 };
    expect(record).toMatchObject({ exitCode: 1, end: { evidence: "watch" }, used });
    book.apply(figures("a", 0, 1, "2025-01-01T00:00:05.000Z"));
    expect(book.store.show("a")[0]).toMatchObject({ figures: { time: "2026-01-01T00:00:05.000Z" }, used });
  });

  test("B24: a pod that only its node saw becomes a record of unknown final state", () => {
    using book = ledger();
    book.apply(figures("ghost", 0, 1));
    expect(book.store.show("ghost")).toMatchObject([
      {
        name: "job-x",
        namespace: "shop",
        node: "node-z",
        exitCode: 9,
        end: { evidence: "node", finalState: "unknown" },
      },
    ]);
    book.apply(object("added", "ghost", 5, { name: "job-x" }));
    expect(book.store.show("ghost")).toMatchObject([{ end: null, node: "node-a" }]);
    book.apply(object("deleted", "ghost", 6, { name: "job-x", exit: 9 }));
    expect(book.store.show("ghost")).toMatchObject([
      { end: { evidence: "watch", finalState: "exact" }, figures: { reason: "ended" } },
    ]);
  });

  test("what is no frame is set aside", () => {
    using book = ledger();
    book.apply({ ...figures("a", 0, 1), payload: bytes("nonsense") });
    expect(book.store.status()).toMatchObject({ quarantined: 1, live: 0, deleted: 0 });
  });
});

test("B51: changes after a cursor, each record once with its latest state, in the order of the commits", () => {
  using book = ledger();
  book.apply(object("added", "u1", 1), object("added", "u2", 2));
  const first = book.store.changes(0, 10);
  expect(first.map(({ record }) => record.uid)).toEqual(["u1", "u2"]);
  const cursor = first.at(-1)?.cursor ?? 0;
  expect(book.store.changes(cursor, 10)).toEqual([]);
  book.apply(object("deleted", "u1", 3));
  expect(book.store.changes(cursor, 10).map(({ record }) => [record.uid, record.end?.evidence])).toEqual([
    ["u1", "watch"],
  ]);
  expect(book.store.changes(0, 1).map(({ record }) => record.uid)).toEqual(["u2"]);
});

describe("B51: a consumer with a cursor", () => {
  const year = { days: 365, rows: 1_000_000 };

  test("is told each record once with its latest state, in commit order, and of what was purged; a restart changes nothing", () => {
    using place = folder();
    const file = place.file("store.db");
    const apply = (store: Store, ...events: readonly InventoryEvent[]): void => {
      const from = store.applied("q");
      const queued = events.map((event, index) => ({ sequence: from + index + 1, event }));
      store.apply({ queue: "q", events: queued, token: 0 });
    };
    let cursor: string;
    {
      using store = openStore(file, "test");
      expect(store.feed(null, 10).entries).toEqual([]);
      apply(store, object("added", "u1", 1), object("added", "u2", 2), object("deleted", "u1", 3));
      const first = store.feed(null, 1);
      expect(first.entries.map(({ uid }) => uid)).toEqual(["u1"]);
      cursor = first.next;
    }
    using store = openStore(file, "test");
    const rest = store.feed(cursor, 10);
    expect(rest.entries.map(({ uid, record }) => [uid, record?.end ?? null])).toEqual([["u2", null]]);
    expect(store.feed(rest.next, 10)).toEqual({ entries: [], next: rest.next });
    expect(store.purge({ days: 1, rows: 1_000_000 }, 1_900_000_000_000, 100)).toBe(1);
    apply(store, object("modified", "u2", 4));
    expect(store.feed(rest.next, 10).entries.map(({ uid, record }) => [uid, record === null])).toEqual([
      ["u1", true],
      ["u2", false],
    ]);
  });

  test("a cursor of another store, of the future, or of what is forgotten has expired", () => {
    using book = ledger();
    using other = ledger();
    book.apply(object("added", "u1", 1));
    other.apply(object("added", "u1", 1));
    const { next } = book.store.feed(null, 10);
    for (const cursor of [other.store.feed(null, 10).next, `${next}0`, "1", "x-1", ""]) {
      expect(() => book.store.feed(cursor, 10)).toThrow(expect.objectContaining({ code: "TRAWLER_GONE" }));
    }
    expect(book.store.purge(year, 0, 10)).toBe(0);
    expect(book.store.feed(next, 10).entries).toEqual([]);
  });
});
