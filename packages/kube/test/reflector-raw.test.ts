import { describe, expect, test } from "vitest";
import { scanListPage, scanWatchLine } from "../src/reflector/scan.ts";
import { PODS, pod, reflect, until } from "./reflector-harness.ts";

const line = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const text = (bytes: Uint8Array | undefined): unknown => JSON.parse(Buffer.from(bytes ?? []).toString("utf8"));

describe("scanning", () => {
  test("finds identity and bounds wherever they stand, and leaves the bytes as they are", () => {
    const object = {
      spec: { metadata: { uid: "wrong" }, text: 'a "quoted" \\ {[, é 😀' },
      list: [[], {}, [1, -2.5e3, null, true]],
      metadata: { labels: { uid: "wrong" }, uid: "u-1", resourceVersion: "90071992547409931" },
      empty: {},
    };
    const found = scanWatchLine(line({ object, type: "MODIFIED" }));
    expect(found).toMatchObject({
      type: "MODIFIED",
      object: { meta: { uid: "u-1", resourceVersion: "90071992547409931" } },
    });
    expect(text(found?.object.bytes)).toEqual(object);
    const spaced = Buffer.from(` { "type" : "ADDED" ,\t"object" : { "metadata" : { "uid" : "\\u0061" } } }\r`);
    expect(scanWatchLine(spaced)?.object.meta).toEqual({ uid: "a", resourceVersion: null });
  });

  test("managed fields are emptied, and nothing else", () => {
    const fields = [{ manager: "kubelet", fieldsV1: { 'f:"[{': {} } }];
    const meta = { managedFields: fields, uid: "u", resourceVersion: "1", labels: { managedFields: "kept" } };
    const object = { metadata: meta, spec: { managedFields: [1] }, tail: "é" };
    const emptied = { ...object, metadata: { ...meta, managedFields: [] } };
    expect(text(scanWatchLine(line({ type: "ADDED", object }))?.object.bytes)).toEqual(emptied);
    const odd = { metadata: { ...meta, managedFields: null } };
    const page = scanListPage(line({ items: [object, odd, object], metadata: { resourceVersion: "9" } }));
    expect(page?.items.map((item) => text(item?.bytes))).toEqual([emptied, odd, emptied]);
    expect(page?.resourceVersion).toBe("9");
  });

  test("anything cut short, without identity or of another type is nothing, and nothing hangs or throws", () => {
    const whole = line({
      type: "ADDED",
      object: { metadata: { uid: "u", resourceVersion: "1" }, x: ['"', { a: "\\" }] },
    });
    for (let end = 0; end < whole.length; end += 1) expect(scanWatchLine(whole.subarray(0, end))).toBeNull();
    expect(scanWatchLine(whole)).not.toBeNull();
    for (let at = 0; at < whole.length; at += 1) {
      for (const byte of [0x00, 0x22, 0x5c, 0x7b, 0x7d, 0x5d, 0x2c, 0xff]) {
        const spoilt = Buffer.from(whole);
        spoilt[at] = byte;
        scanWatchLine(spoilt);
        scanListPage(spoilt);
      }
    }
    for (const other of ["[]", "null", "", "{}", '{"type":"ADDED"}', '{"type":"ADDED","object":null}']) {
      expect(scanWatchLine(Buffer.from(other))).toBeNull();
    }
    expect(scanWatchLine(line({ type: "BOOKMARK", object: { metadata: { uid: "u" } } }))).toBeNull();
    expect(scanWatchLine(line({ type: "ADDED", object: { metadata: { uid: 7 } } }))).toBeNull();
  });

  test("pages of lists: items, version and token in any order", () => {
    const items = [{ metadata: { uid: "a", resourceVersion: "1" } }, { metadata: {} }, 7, { metadata: { uid: "b" } }];
    const page = scanListPage(line({ items, metadata: { resourceVersion: "9", continue: "next" }, kind: "PodList" }));
    expect(page).toMatchObject({ resourceVersion: "9", next: "next" });
    expect(page?.items.map((item) => item?.meta.uid ?? null)).toEqual(["a", null, null, "b"]);
    expect(text(page?.items[0]?.bytes)).toEqual(items[0]);
    expect(scanListPage(line({ items: null, metadata: { resourceVersion: "9", continue: "" } }))).toEqual({
      resourceVersion: "9",
      next: null,
      items: [],
    });
    expect(scanListPage(line({ items: {}, metadata: {} }))).toBeNull();
    expect(scanListPage(Buffer.from('{"items":[{"metadata":'))).toBeNull();
  });
});

test("B47: with `raw` objects are handed on as bytes, from lists and watches, and none is parsed here", async () => {
  const bytes: string[] = [];
  await using harness = await reflect((api) => api.put(PODS, pod("a")), {
    byPage: true,
    transform: () => null,
    raw: (raw, { uid }) => {
      bytes.push(Buffer.from(raw).toString("utf8"));
      return { uid, name: uid, note: null };
    },
  });
  await until(() => harness.api.openWatches === 1);
  harness.api.put(PODS, pod("b", "é😀"));
  harness.api.bookmark();
  harness.api.delete(PODS, "a");
  await until(() => harness.told.includes("-a"));
  expect(harness.told).toEqual(["+a", "synced", "+b", "-a"]);
  expect(bytes.map((raw) => JSON.parse(raw).metadata.name)).toEqual(["a", "é😀", "a"]);
  expect(harness.reflector.snapshot()).toMatchObject({ bookmarks: 1, malformed: 0, drift: 0 });
});

test("B19: a safety list is read after its time, counts what was missed as drift, and mends it", async () => {
  const lists: string[] = [];
  await using harness = await reflect((api) => api.put(PODS, pod("a")), {
    relistEvery: 0,
    handler: {
      added: (value) => void harness.told.push(`+${value.uid}`),
      updated: () => {},
      removed: () => {},
      listed: ({ reason }) => void lists.push(reason),
    },
  });
  await until(() => harness.api.openWatches === 1);
  harness.api.silently(() => harness.api.put(PODS, pod("missed")));
  harness.api.put(PODS, pod("b"));
  await until(() => harness.told.includes("+b"));
  harness.api.breakWatches("end");
  await until(() => harness.told.includes("+missed"));
  await until(() => lists.includes("safety"));
  expect(lists.slice(0, 2)).toEqual(["first", "safety"]);
  expect(harness.reflector.snapshot().drift).toBe(1);
});
