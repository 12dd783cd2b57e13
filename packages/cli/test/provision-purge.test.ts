import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { begin, DEFAULT_SETTINGS, JournalFolder, processTemplate } from "@trawler/provision";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runMain } from "./in-process.ts";

let path = "";
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "trawler-purge-"));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

/** A run of no objects that ended so; forty days ago. */
function ended(state: "FAILED" | "PARTIAL"): string {
  const { template } = processTemplate(JSON.stringify({ apiVersion: "v1", kind: "Template", objects: [] }));
  if (template === null) throw new Error("it has faults");
  const now = Date.now() - 40 * 86_400_000;
  const clock = { now: () => now, monotonic: () => 0 };
  const preflight = { objects: [], findings: [] };
  const place = { folder: new JournalFolder(path), namespace: "shop", server: "api.example.test" };
  using begun = begin({ ...place, template, preflight, settings: DEFAULT_SETTINGS, clock });
  const { journal } = begun;
  journal.writeRun({ ...journal.run, state, endedAt: new Date(now).toISOString() });
  return begun.instance;
}

test("purge says what it would forget, forgets it, and keeps what may have left something", async () => {
  const [failed, partial] = [ended("FAILED"), ended("PARTIAL")];
  const purge = (...args: readonly string[]) => runMain(["provision", "purge", "--state", path, ...args]);
  const young = await purge("--older-than", "1440h", "-o", "json");
  expect([young.code, JSON.parse(young.stdout)]).toEqual([0, { dryRun: false, purged: [], kept: 2 }]);
  const dry = await purge("--dry-run");
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining(`${failed}  FAILED`)]);
  expect(dry.stdout).toContain("1 would be forgotten, 1 kept");
  const done = await purge("-o", "json");
  expect(JSON.parse(done.stdout)).toMatchObject({ purged: [{ instance: failed, state: "FAILED" }], kept: 1 });
  expect(new JournalFolder(path).instances()).toEqual([partial]);
  // A service answers a request that comes again for a week.
  writeFileSync(join(path, "service.db"), "");
  const early = await purge("--older-than", "1h");
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining("--older-than 168h")]);
});

test("ages and timeouts are durations as settings write them; what no timer can wait for is refused", async () => {
  ended("FAILED");
  const purged = await runMain(["provision", "purge", "--state", path, "--older-than", "1.5h", "-o", "json"]);
  expect([purged.code, JSON.parse(purged.stdout).purged.length]).toEqual([0, 1]);
  for (const value of ["7", "7d"]) {
    const wrong = await runMain(["provision", "purge", "--state", path, "--older-than", value]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("It is a duration such as 30m or 720h")]);
  }
  for (const value of ["10", "1000h"]) {
    const wrong = await runMain(["provision", "apply", "-f", "none.yaml", "--ready-timeout", value]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("It is a duration up to 596h")]);
  }
});

test("list tells of the runs that can be read, and which one cannot", async () => {
  const instance = ended("FAILED");
  writeFileSync(join(path, "01m8qpv3012davbr68mykrpn1d.journal"), "no journal");
  const list = await runMain(["provision", "list", "--state", path]);
  expect([list.code, list.stdout]).toEqual([0, expect.stringContaining(instance)]);
  expect(list.stderr).toContain("01m8qpv3012davbr68mykrpn1d.journal");
});
