import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { fakeContext, fakeEnvelope } from "@trawler/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Compression } from "../src/compression.ts";
import { fileEmitter } from "../src/emitter.ts";

let folder = "";
let path = "";
let failures: unknown[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trawler-"));
  path = join(folder, "frames.jsonl");
  failures = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const envelope = (index: number, size: number) =>
  fakeEnvelope(index, { id: String(index), bytes: Buffer.from(String(index % 10).repeat(size)) });
const emitter = (maxFiles = 3) => {
  const compression = new Compression((error) => failures.push(error));
  return fileEmitter({ path, maxSize: 1000, maxFiles, format: "json", fsync: false, compression });
};
const names = async () => (await readdir(folder)).sort();
const unpacked = async (name: string) => gunzipSync(await readFile(join(folder, name))).toString("utf8");
const firsts = (text: string) =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => line[0]);

test("049, parity F2: old files are compressed and kept in their order, as many as told; the current one stays plain", async () => {
  await using file = await emitter();
  for (let index = 0; index < 10; index++) await file.write([envelope(index, 400)], fakeContext());
  const kept = ["frames.jsonl", "frames.jsonl.1.gz", "frames.jsonl.2.gz", "frames.jsonl.3.gz"];
  await expect.poll(() => names()).toEqual(kept);
  expect(await Promise.all([3, 2, 1].map((index) => unpacked(`frames.jsonl.${index}.gz`).then(firsts)))).toEqual([
    ["2", "3"],
    ["4", "5"],
    ["6", "7"],
  ]);
  expect(firsts(await readFile(path, "utf8"))).toEqual(["8", "9"]);
  expect((await stat(`${path}.1.gz`)).mode & 0o777).toBe(0o600);
  expect(failures).toEqual([]);
});

test("049: what a crash left is mended: a part goes, a plain file is compressed, a whole one stands for its plain one", async () => {
  await writeFile(`${path}.1`, "one\n");
  await writeFile(`${path}.1.gz.part`, gzipSync("one\n").subarray(0, 10));
  await writeFile(`${path}.2`, "two\n");
  await writeFile(`${path}.2.gz`, gzipSync("two\n"));
  await using _ = await emitter();
  await expect.poll(() => names()).toEqual(["frames.jsonl", "frames.jsonl.1.gz", "frames.jsonl.2.gz"]);
  expect([await unpacked("frames.jsonl.1.gz"), await unpacked("frames.jsonl.2.gz")]).toEqual(["one\n", "two\n"]);
});

test("049: closing in the middle leaves the plain file whole and no part", async () => {
  const line = `${"x".repeat(1_000)}\n`;
  await writeFile(`${path}.1`, line.repeat(20_000));
  const file = await emitter();
  await file[Symbol.asyncDispose]();
  const left = await names();
  expect(left).not.toContain("frames.jsonl.1.gz.part");
  const text = left.includes("frames.jsonl.1.gz")
    ? await unpacked("frames.jsonl.1.gz")
    : await readFile(`${path}.1`, "utf8");
  expect(text).toBe(line.repeat(20_000));
});

test("049: what cannot be compressed stays plain, is told and moves along", async () => {
  await using file = await emitter();
  // A folder in the place of the part refuses it, for root too.
  execFileSync("mkdir", ["-p", `${path}.1.gz.part/x`]);
  for (let index = 0; index < 4; index++) await file.write([envelope(index, 400)], fakeContext());
  await expect.poll(() => failures.length).toBeGreaterThan(0);
  expect(firsts(await readFile(`${path}.1`, "utf8"))).toEqual(["0", "1"]);
});
