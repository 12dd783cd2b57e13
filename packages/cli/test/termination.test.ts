import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tellTermination } from "../src/termination.ts";
import { runMain } from "./in-process.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-termination-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("an agent that cannot start tells its pod the one message that it prints", async () => {
  const file = join(folder, "trawl.yaml");
  writeFileSync(file, "pipelines: { default: { every: 10 } }\n");
  const { code, stderr, end } = await runMain(["run", "--config", file]);
  expect(code).toBe(2);
  expect(end).toMatch(/^trawl: .*trawl\.yaml:1:\d+: pipelines\.default\.every: /);
  expect(stderr).toBe(`${end}\n`);
});

test("a command that is called beside a running agent says nothing of the pod's end", async () => {
  const { code, end } = await runMain(["explain", "setting", "no.such.setting"]);
  expect(code).not.toBe(0);
  expect(end).toBe("");
});

test("the message replaces what an earlier start left, and is cut to what a kubelet takes", () => {
  const path = join(folder, "termination-log");
  writeFileSync(path, "x".repeat(5000));
  tellTermination("y".repeat(6000), path);
  expect(readFileSync(path, "utf8")).toBe("y".repeat(4096));
});

test("where there is no such file nothing is made and nothing is thrown", () => {
  const before = readdirSync(folder);
  tellTermination("why", join(folder, "absent"));
  expect(readdirSync(folder)).toEqual(before);
});
