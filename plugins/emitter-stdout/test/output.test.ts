import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

/** A process that writes `frames` frames of 1000 bytes, in batches of ten, and tells the results on standard error. */
const script = (frames: number): string => `
  import stdout from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const emitter = await stdout.create({ format: "auto" }, { log });
  let rejected = 0;
  for (let index = 0; index < ${frames}; index += 10) {
    const batch = Array.from({ length: 10 }, (_, at) => ({ id: String(index + at), name: "n", bytes: Buffer.alloc(1000, "x") }));
    const result = await emitter.write(batch, { signal: new AbortController().signal, log });
    rejected += result?.rejected?.length ?? 0;
    if (index === 0) process.stderr.write("first ");
  }
  process.stderr.write("rejected " + rejected);
`;

function start(frames: number) {
  const args = ["--conditions=@trawler/source", "--input-type=module", "-e", script(frames)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  return { child, told: text(child.stderr), ended: once(child, "exit") };
}

test("a pipe gets JSON lines, whole and in order, however slowly it is read", async () => {
  const { child, told, ended } = start(1000);
  child.stdout.pause();
  let bytes = 0;
  for await (const chunk of child.stdout) {
    bytes += chunk.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([bytes, await told, await ended]).toEqual([1000 * 1001, "first rejected 0", [0, null]]);
});

test("a reader that goes away makes the rest rejected and ends nothing else", async () => {
  const { child, told, ended } = start(1000);
  child.stdout.once("data", () => child.stdout.destroy());
  const [code] = await ended;
  expect(code).toBe(0);
  expect(await told).toMatch(/^first rejected [1-9]\d+$/);
});
