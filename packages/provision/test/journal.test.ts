import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errorCode } from "@trawler/plugin-api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../src/instance/settings.ts";
import { JournalFolder } from "../src/journal/folder.ts";
import { isInstance, newInstance } from "../src/journal/instance.ts";
import { Journal } from "../src/journal/journal.ts";
import type { Run } from "../src/journal/record.ts";
import { itemOf } from "./item.ts";

let path = "";
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "trawler-journal-"));
});
afterEach(() => rmSync(path, { recursive: true }));

const runOf = (instance: string): Run => ({
  instance,
  template: "shop",
  digest: "d",
  namespace: "shop",
  server: "api.example.test",
  createdAt: "2026-01-01T00:00:00.000Z",
  endedAt: null,
  state: "PENDING",
  settings: DEFAULT_SETTINGS,
  headline: null,
  rollback: "notNeeded",
  ready: null,
  leftovers: [],
  evidence: [],
  warnings: [],
});
const sealed = { requests: ['{"password":"s3cr3t-value"}'], secrets: ["s3cr3t-value"], message: "it is s3cr3t-value" };

test("P10: what a run planned is there for the next process; secrets are encrypted, and destroyed at the end", () => {
  const folder = new JournalFolder(path);
  const instance = newInstance(Date.now());
  const first = Journal.create(path, runOf(instance), [itemOf({ index: 0 })], sealed);
  first.intend([0]);
  first[Symbol.dispose]();
  const bytes = readdirSync(path)
    .filter((name) => !name.endsWith(".key"))
    .map((name) => readFileSync(join(path, name), "latin1"))
    .join();
  expect(bytes).toContain("creating");
  expect(bytes).not.toContain("s3cr3t");
  using second = folder.open(instance);
  expect(second.items).toEqual([itemOf({ index: 0, status: "creating" })]);
  expect(second.sealed).toEqual(sealed);
  second.forget();
  expect(second.sealed).toBeNull();
  expect(readdirSync(path).filter((name) => name.endsWith(".key"))).toEqual([]);
});

test("one process at a time: a second one does not get the lock until the first lets go", () => {
  const folder = new JournalFolder(path);
  const instance = newInstance(Date.now());
  const lock = folder.lock(instance);
  expect(lock).not.toBeNull();
  expect(folder.isRunning(instance)).toBe(true);
  expect(folder.lock(instance, 0)).toBeNull();
  lock?.[Symbol.dispose]();
  expect(folder.isRunning(instance)).toBe(false);
});

test("instances sort by time, may be labels, and are found by their beginning", () => {
  const early = newInstance(1_700_000_000_000);
  const late = newInstance(1_800_000_000_000);
  expect(early < late).toBe(true);
  expect([early, late].every(isInstance)).toBe(true);
  const folder = new JournalFolder(path);
  for (const instance of [late, early]) Journal.create(path, runOf(instance), [], sealed)[Symbol.dispose]();
  expect(folder.instances()).toEqual([early, late]);
  expect(folder.find(late.slice(0, 12).toUpperCase())).toBe(late);
  for (const wrong of ["01", "zzzz", "../../etc"]) {
    let code: string | undefined;
    try {
      folder.find(wrong);
    } catch (error) {
      code = errorCode(error);
    }
    expect(code).toBe("TRAWLER_CONFIG_INVALID");
  }
});

test("P15: what became of objects is gathered, in order with the log, and kept where it cannot be written yet", () => {
  const instance = newInstance(Date.now());
  using journal = Journal.create(path, runOf(instance), [itemOf({ index: 0 })], sealed);
  using other = new DatabaseSync(join(path, `${instance}.journal`), { timeout: 0 });
  journal.writeItem(itemOf({ index: 0, status: "creating" }), { time: "1", text: "creating" });
  journal.writeItem(itemOf({ index: 0, status: "created" }), { time: "2", text: "created" });
  journal.writeLog({ time: "3", text: "after it" });
  expect(journal.log.map(({ text }) => text)).toEqual(["creating", "created", "after it"]);
  other.exec("CREATE TRIGGER full BEFORE INSERT ON log BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  journal.writeItem(itemOf({ index: 0, status: "rolledBack" }), { time: "4", text: "rolled back" });
  expect(() => journal.flush()).toThrow("the disk is full");
  other.exec("DROP TRIGGER full");
  expect(journal.items.map(({ status }) => status)).toEqual(["rolledBack"]);
  expect(journal.events(3, 10).map(({ text, object }) => [text, object?.status])).toEqual([
    ["rolled back", "rolledBack"],
  ]);
});
