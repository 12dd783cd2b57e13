import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment, Workload, WorkloadEvent } from "@trawler/plugin-api";
import { fakeWorkload } from "@trawler/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { followWorkloads } from "../src/commands/logs/workloads.ts";
import { runMain } from "./in-process.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-logs-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([[[]], [["link"]], [["list"]]])("trawl logs %s has help with examples", async (command) => {
  const { code, stdout } = await runMain(["logs", ...command, "--help"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Examples:\n {2}trawl logs /);
});

test.each([
  ["--folder links", /absolute path/],
  ["--every 1ms", /200ms to 1h/],
  ["--per-container 0", /whole number/],
  ["--http-port 70000", /a port/],
  ["--environment host", /name --environment kubernetes or docker/],
])("trawl logs link %s is a mistake of use, and says what is right", async (options, message) => {
  const { code, stderr } = await runMain(["logs", "link", ...options.split(" ")]);
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
});

test("trawl logs list prints the index, and nothing in it steers the terminal", async () => {
  expect(await runMain(["logs", "list", "--folder", join(folder, "none")])).toMatchObject({ code: 1 });
  expect(existsSync(join(folder, "none"))).toBe(false);
  const entry = { type: null, container: "web", containerId: "a", pod: null, namespace: null, podUid: null };
  const logs = [
    { ...entry, link: "web/a", state: "linked", reason: null, target: "/proc/1/fd/3", path: "/a" },
    { ...entry, link: "web/b", state: "absent", reason: null, target: null, path: "/b" },
    { ...entry, link: null, state: "refused", reason: "it is not absolute", target: null, path: "\u001b[2Jc" },
  ];
  writeFileSync(join(folder, ".index.json"), JSON.stringify({ version: 1, logs, leaving: [] }));
  const { code, stdout } = await runMain(["logs", "list", "--folder", folder]);
  expect(code).toBe(0);
  expect(stdout.split("\n")).toEqual([
    "linked   web/a -> /proc/1/fd/3",
    "absent   web/b",
    "refused  web ?[2Jc it is not absolute",
    "",
  ]);
  const json = await runMain(["logs", "list", "--folder", folder, "--json"]);
  expect(JSON.parse(json.stdout)).toEqual(logs);
});

test("an environment that is followed anew is believed when its list is complete, and what it said stands till then", async () => {
  const [first, second] = [fakeWorkload({ id: "1" }), fakeWorkload({ id: "2" })];
  const added = (workload: Workload): WorkloadEvent => ({ type: "added", workload });
  const gate = Promise.withResolvers<void>();
  const midway = Promise.withResolvers<void>();
  let calls = 0;
  const environment: Environment = {
    async *discover({ signal }) {
      calls += 1;
      if (calls === 1) {
        yield* [added(first), added(second), { type: "synced" as const }];
        throw new Error("the stream has ended");
      }
      yield added(second);
      midway.resolve();
      await gate.promise;
      yield { type: "synced" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  };
  const stop = new AbortController();
  const told: string[] = [];
  const tell = (_: object, message: string): void => void told.push(message);
  const log = { debug: tell, info: tell, warn: tell, error: tell };
  const workloads = followWorkloads(environment, { signal: stop.signal, log });
  const ids = (): readonly string[] => [...workloads.all()].map(({ id }) => id);
  while (!workloads.synced) await workloads.changed(1_000);
  expect(ids()).toEqual(["1", "2"]);
  await midway.promise;
  expect([ids(), told]).toEqual([["1", "2"], ["the stream has ended"]]);
  gate.resolve();
  while (ids().length > 1) await workloads.changed(1_000);
  expect(ids()).toEqual(["2"]);
  stop.abort();
  // No wait outlives the stop.
  await workloads.changed(3_600_000);
});
