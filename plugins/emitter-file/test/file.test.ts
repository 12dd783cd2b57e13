import { execFileSync } from "node:child_process";
import { appendFile, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode } from "@trawler/plugin-api";
import { fakeContext, fakeEnvelope } from "@trawler/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileEmitter } from "../src/emitter.ts";

let folder = "";
let path = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trawler-"));
  path = join(folder, "frames.jsonl");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const envelope = (index: number, size: number) =>
  fakeEnvelope(index, { id: String(index), bytes: Buffer.from(String(index % 10).repeat(size)) });
const emitter = (over = {}) => fileEmitter({ path, maxSize: 1000, maxFiles: 2, format: "json", fsync: false, ...over });
const lines = async (name: string) => (await readFile(join(folder, name), "utf8")).split("\n").slice(0, -1);

test("only its owner may read the file", async () => {
  await using _ = await emitter();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("starts a new file at the size limit and keeps as many old ones as told", async () => {
  await using file = await emitter();
  for (let index = 0; index < 10; index++) await file.write([envelope(index, 400)], fakeContext());
  expect((await readdir(folder)).sort()).toEqual(["frames.jsonl", "frames.jsonl.1", "frames.jsonl.2"]);
  expect((await lines("frames.jsonl")).map((line) => line[0])).toEqual(["8", "9"]);
  expect((await lines("frames.jsonl.2")).map((line) => line[0])).toEqual(["4", "5"]);
});

test("rotates within one batch, and keeps no old file where none is asked for", async () => {
  await using file = await emitter({ maxFiles: 0 });
  const batch = Array.from({ length: 7 }, (_, index) => envelope(index, 400));
  expect(await file.write(batch, fakeContext())).toBeUndefined();
  expect(await readdir(folder)).toEqual(["frames.jsonl"]);
  expect((await lines("frames.jsonl")).map((line) => line[0])).toEqual(["6"]);
});

test("a frame larger than the limit has a file of its own", async () => {
  await using file = await emitter();
  await file.write([envelope(1, 10), envelope(2, 5000), envelope(3, 10)], fakeContext());
  expect((await lines("frames.jsonl.1")).map((line) => line.length)).toEqual([5000]);
  expect(await lines("frames.jsonl")).toHaveLength(1);
});

test("goes on at the end of an earlier file, after half a line that a crash left", async () => {
  await writeFile(path, '{"whole":1}\n{"half":');
  await using file = await emitter({ fsync: true });
  await file.write([envelope(1, 3)], fakeContext());
  expect(await lines("frames.jsonl")).toEqual(['{"whole":1}', '{"half":', "111"]);
});

test("follows a file that someone else moved away or deleted", async () => {
  await using file = await emitter();
  await file.write([envelope(1, 3)], fakeContext());
  await rename(path, `${path}.moved`);
  await file.write([envelope(2, 3)], fakeContext());
  await rm(path);
  await file.write([envelope(3, 3)], fakeContext());
  expect([await lines("frames.jsonl.moved"), await lines("frames.jsonl")]).toEqual([["111"], ["333"]]);
});

test("says how to mend a path that cannot be", async () => {
  const missing = emitter({ path: join(folder, "none", "frames.jsonl") });
  await expect(missing).rejects.toMatchObject({
    code: "TRAWLER_CONFIG_INVALID",
    message: /create it or change `path`/,
  });
  await expect(emitter({ path: folder })).rejects.toMatchObject({ code: "TRAWLER_CONFIG_INVALID" });
});

test("refuses a FIFO instead of waiting for its reader", async () => {
  execFileSync("sh", ["-c", 'mkfifo "$0"', path]);
  await expect(emitter()).rejects.toMatchObject({ code: "TRAWLER_CONFIG_INVALID", message: /not a regular file/ });
});

test("says that it is away when its folder is, and recovers when it comes back", async () => {
  await using file = await emitter({ path: join(folder, "frames.jsonl") });
  await rename(folder, `${folder}-away`);
  const code = await file.write([envelope(1, 3)], fakeContext()).catch(errorCode);
  await rename(`${folder}-away`, folder);
  expect(code).toBe("TRAWLER_UNAVAILABLE");
  expect(await file.write([envelope(1, 3)], fakeContext())).toBeUndefined();
  expect(await lines("frames.jsonl")).toEqual(["111"]);
});

test("what does not fit on a full disk is named for a retry, and leaves no half line", async () => {
  await using file = await emitter({ maxSize: 1_000_000 });
  await file.write([envelope(1, 3)], fakeContext());
  // The limit of the file's size (EFBIG) stands for a full disk: both end a write in the middle.
  const script = `ulimit -f 2; exec "$0" --conditions=@trawler/source --input-type=module -e '
    import { fileEmitter } from ${JSON.stringify(new URL("../src/emitter.ts", import.meta.url).href)};
    process.on("SIGXFSZ", () => undefined);
    const file = await fileEmitter({ path: process.argv[1], maxSize: 1e6, maxFiles: 1, format: "json", fsync: false });
    const bytes = Buffer.alloc(3000, "x");
    const context = { signal: new AbortController().signal };
    try { console.log(JSON.stringify(await file.write([{ id: "a", bytes }], context))); }
    catch (error) { console.log(error.code); }
  ' "$1"`;
  const output = execFileSync("sh", ["-c", script, process.execPath, path], { encoding: "utf8" });
  expect(output.trim()).toBe("TRAWLER_RETRY");
  expect(await lines("frames.jsonl")).toEqual(["111"]);
});

test("an aborted batch names what was not written", async () => {
  await using file = await emitter();
  const controller = new AbortController();
  controller.abort();
  expect(await file.write([envelope(1, 3)], fakeContext(controller.signal))).toEqual({ retry: ["1"] });
  expect((await stat(path)).size).toBe(0);
});

test("another writer's half line is not ours to mend while the file is open", async () => {
  await using file = await emitter();
  await appendFile(path, "note\n");
  await file.write([envelope(1, 3)], fakeContext());
  expect(await lines("frames.jsonl")).toEqual(["note", "111"]);
});
