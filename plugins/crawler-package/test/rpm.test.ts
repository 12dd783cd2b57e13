import { expect, test } from "vitest";
import { Damaged } from "../src/rpm/bytes.ts";
import { parseHeader } from "../src/rpm/header.ts";
import { readBerkeley, readSqlite } from "../src/rpm.ts";
import { readFrom, SAMPLE, spoiled, unpacked } from "./fixture.ts";

const byName = (packages: readonly { readonly name: string }[]) =>
  packages.toSorted((a, b) => (a.name < b.name ? -1 : 1));

test("rpm's sqlite database says what rpm -qa says", async () => {
  const { packages, shortfall } = await readSqlite(readFrom(unpacked("rpmdb.sqlite")), null, null, 100);
  expect(packages).toEqual(SAMPLE);
  expect(shortfall).toBeNull();
});

test("what is committed in the write-ahead log counts, and nothing after it", async () => {
  const log = unpacked("rpmdb.sqlite-wal");
  const read = async (bytes: Uint8Array) => {
    const { packages } = await readSqlite(readFrom(unpacked("rpmdb.sqlite")), readFrom(bytes), null, 100);
    return packages.map(({ name }) => name);
  };
  expect(await read(log)).toEqual(["trawler-sample", "trawler-noarch"]);
  const all = ["trawler-sample", "tiny", "trawler-noarch"];
  expect(await read(log.slice(0, -1))).toEqual(all);
  expect(await read(log.with(100, (log[100] ?? 0) ^ 1))).toEqual(all);
  expect(await read(new Uint8Array())).toEqual(all);
});

test.each(["little", "big"])("Berkeley DB's hash of %s-endian order says what rpm -qa says", async (order) => {
  const { packages, shortfall } = await readBerkeley(readFrom(unpacked(`Packages.${order}`)), null, 100);
  expect(byName(packages)).toEqual(byName(SAMPLE));
  expect(shortfall).toBeNull();
});

test("a package that was installed after the container started is drift", async () => {
  const started = Date.parse("2026-12-01T02:28:00.000Z");
  const drift = async (startedAt: number) =>
    (await readSqlite(readFrom(unpacked("rpmdb.sqlite")), null, startedAt, 1)).packages.map((one) => one.drift);
  expect(await drift(started)).toEqual([true]);
  expect(await drift(started + 60_000)).toEqual([false]);
});

test("more packages than wanted are cut and said so", async () => {
  const { packages, shortfall } = await readSqlite(readFrom(unpacked("rpmdb.sqlite")), null, null, 2);
  expect(packages).toHaveLength(2);
  expect(shortfall).toEqual({ code: "truncated", message: "more than 2 packages" });
});

test.each([
  ["rpmdb.sqlite", (bytes: Uint8Array) => readSqlite(readFrom(bytes), null, null, 100)],
  ["rpmdb.sqlite", (bytes: Uint8Array) => readSqlite(readFrom(unpacked("rpmdb.sqlite")), readFrom(bytes), null, 100)],
  ["Packages.little", (bytes: Uint8Array) => readBerkeley(readFrom(bytes), null, 100)],
] as const)("a spoiled %s ends with what was good and a reason, or whole", async (name, read) => {
  for (const bytes of spoiled(unpacked(name), 40)) {
    const { packages, shortfall } = await read(bytes);
    expect(packages.length).toBeLessThanOrEqual(4);
    if (packages.length < 3) expect(shortfall).not.toBeNull();
  }
});

test("noise is no header", () => {
  expect(() => parseHeader(new Uint8Array(7))).toThrow(Damaged);
  expect(() => parseHeader(new Uint8Array(64).fill(255))).toThrow(Damaged);
  // Sixteen entries that all point beyond the data: nothing is known, and nothing is read.
  const blob = new Uint8Array(8 + 256);
  new DataView(blob.buffer).setUint32(0, 16);
  for (let index = 0; index < 16; index++) {
    const view = new DataView(blob.buffer, 8 + index * 16);
    view.setUint32(0, 1000 + index);
    view.setUint32(4, index % 2 === 0 ? 6 : 4);
    view.setUint32(8, 0xffffffff);
  }
  expect(Object.values(parseHeader(blob)).every((value) => value === null)).toBe(true);
});

test("parity O8: one package that is there twice is two entries", async () => {
  const { keyed } = await import("../src/package.ts");
  const one = { name: "pkg1", version: "v1", architecture: "x86", size: 123, source: null, state: null };
  const twice = { ...one, installed: null, drift: null };
  expect(keyed([twice, twice]).map(([key]) => key)).toEqual(["pkg1:x86", "pkg1:x86:v1#2"]);
});
