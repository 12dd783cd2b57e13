import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { Damaged } from "../src/rpm/bytes.ts";
import { sqliteBlobs } from "../src/rpm/sqlite.ts";
import { readRecord } from "../src/rpm/sqlite-record.ts";
import { random, readFrom } from "./fixture.ts";

const LIMITS = { maxRow: 1_048_576, maxRows: 10_000, maxLog: 1_048_576 };

/** A database of SQLite's own with so many rows, each of another length. */
async function database(pageSize: number, rows: number): Promise<{ bytes: Uint8Array; blobs: Uint8Array[] }> {
  const folder = await mkdtemp(join(tmpdir(), "trawler-sqlite-"));
  try {
    const path = join(folder, "db");
    const blobs: Uint8Array[] = [];
    const db = new DatabaseSync(path);
    db.exec(
      `PRAGMA page_size = ${pageSize}; CREATE TABLE other (a); CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB)`,
    );
    db.exec("BEGIN");
    const insert = db.prepare("INSERT INTO Packages (blob) VALUES (?)");
    const next = random(pageSize);
    for (let row = 0; row < rows; row++) {
      const blob = new Uint8Array(Math.floor(next() ** 4 * 3 * pageSize)).fill(row % 256);
      insert.run(blob);
      blobs.push(blob);
    }
    db.exec("COMMIT");
    db.close();
    return { bytes: new Uint8Array(await readFile(path)), blobs };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function collect(bytes: Uint8Array, limits = LIMITS): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  for await (const blob of sqliteBlobs(readFrom(bytes), null, "Packages", limits)) found.push(Uint8Array.from(blob));
  return found;
}

test.each([512, 1024, 4096, 65_536])(
  "pages of %i bytes: every row, in its order, over several levels",
  async (pageSize) => {
    const { bytes, blobs } = await database(pageSize, 1500);
    const found = await collect(bytes);
    expect(found.length).toBe(blobs.length);
    expect(found.every((blob, index) => Buffer.compare(blob, blobs[index] ?? Buffer.alloc(1)) === 0)).toBe(true);
  },
);

test("a tree that leads back to itself, too many rows and too large a row end the reading", async () => {
  const { bytes } = await database(512, 1500);
  await expect(collect(bytes, { ...LIMITS, maxRows: 100 })).rejects.toThrow("more than 100 rows");
  await expect(collect(bytes, { ...LIMITS, maxRow: 1000 })).rejects.toThrow(/a row of \d+ bytes/);
  // The right-most child of each interior page becomes the page itself.
  const circle = Uint8Array.from(bytes);
  for (let page = 512; page < circle.length; page += 512) {
    if (circle[page] === 5) circle.set([0, 0, 0, page / 512 + 1], page + 8);
  }
  await expect(collect(circle)).rejects.toThrow("met twice");
});

test("a file that is no database, or has none of rpm's tables, is damaged", async () => {
  await expect(collect(new Uint8Array(50))).rejects.toThrow(Damaged);
  await expect(collect(new TextEncoder().encode("SQLite format 3\0".padEnd(4096, "\xff")))).rejects.toThrow(Damaged);
  const { bytes } = await database(512, 1);
  const sql = Buffer.from(bytes).indexOf("Packages");
  await expect(collect(bytes.with(sql, 81))).rejects.toThrow("has no table Packages");
});

test("a record's integers keep their sign and their size", () => {
  const record = Uint8Array.of(8, 1, 2, 6, 8, 9, 0, 15, 0xff, 0x80, 0, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0x61);
  expect(readRecord(record)).toEqual([-1, -32_768, null, 0, 1, null, "a"]);
});
