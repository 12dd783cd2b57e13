import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Frame } from "@trawler/plugin-api";
import { afterAll, expect, test } from "vitest";
import { runMain } from "./in-process.ts";
import { trawl } from "./spawn.ts";

const folder = mkdtempSync(join(tmpdir(), "trawler-acceptance-"));
afterAll(() => rmSync(folder, { recursive: true }));

const configured = (name: string, settings: object): string => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ state: { folder: join(folder, "state") }, http: { port: 0 }, ...settings }));
  return path;
};
const linesOf = (name: string): readonly string[] => readFileSync(join(folder, name), "utf8").trimEnd().split("\n");

test("parity F1, F10, F12, W1: one frame of the host in two files, with attributes of one's own", async () => {
  const config = configured("two-files.yaml", {
    attributes: { test_field: "1234", test_field2: "aaaa" },
    pipelines: {
      default: {
        environment: { host: {} },
        mode: { host: {} },
        crawlers: { os: {} },
        emitters: {
          "file/one": { path: join(folder, "one.csv"), format: "csv" },
          "file/two": { path: join(folder, "two.csv"), format: "csv" },
        },
      },
    },
  });
  const { code, stderr } = await trawl(["run", "--once", "--config", config]);
  expect(code, stderr).toBe(0);
  const one = linesOf("one.csv");
  expect(one.map((line) => line.split("\t")[0])).toEqual(["metadata", "os"]);
  expect(linesOf("two.csv")).toEqual(one);
  const metadata: unknown = JSON.parse(one[0]?.split("\t")[2] ?? "");
  expect(metadata).toMatchObject({ system_type: "host" });
  expect(JSON.stringify(metadata)).toContain('"test_field":"1234"');
  expect(JSON.stringify(metadata)).toContain('"test_field2":"aaaa"');
});

test("parity W1: os and cpu of the host are two features of one frame", async () => {
  const { code, stdout } = await trawl(["once", "-e", "host", "-m", "host", "--crawlers", "os,cpu", "--over", "0s"]);
  expect(code).toBe(0);
  const frame: Frame = JSON.parse(stdout);
  expect(frame.kind).toBe("host");
  expect(frame.features.map(({ type }) => type).toSorted()).toEqual(["cpu", "os"]);
});

test("parity F7: a format or an emitter that nobody has is refused by name", async () => {
  const pipeline = (emitters: object) => ({ pipelines: { default: { emitters } } });
  const format = configured("format.yaml", pipeline({ stdout: { format: "unsupported" } }));
  expect(await runMain(["check", "--config", format])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/emitters\.stdout\.format: found the text "unsupported", expected one of/),
  });
  const emitter = configured("emitter.yaml", pipeline({ error: {} }));
  expect(await runMain(["check", "--config", emitter])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/emitters\.error: unknown emitter, expected one of/),
  });
});
