import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ProcFileReader } from "../../src/proc/files.ts";
import { hostPids } from "../../src/proc/host-processes.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "trawler-proc-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

test("reads at most what it was told to, beyond its own buffer too", async () => {
  const root = folder();
  writeFileSync(join(root, "long"), "x".repeat(300_000));
  const files = new ProcFileReader(root);
  expect(files.text("long")).toHaveLength(64 * 1024);
  expect(files.text("long", 10)).toHaveLength(10);
  expect(files.text("long", 1_000_000)).toHaveLength(300_000);
  expect(await files.slowText("long", { maxBytes: 200_000 })).toHaveLength(200_000);
  expect(await files.slowText("long", { maxBytes: 1_000_000 })).toHaveLength(300_000);
});

test("errors are the kernel's own", async () => {
  const files = new ProcFileReader(folder());
  expect(() => files.text("1/stat")).toThrow(expect.objectContaining({ code: "ENOENT" }));
  await expect(files.slowText("1/cmdline")).rejects.toMatchObject({ code: "ENOENT" });
  await expect(files.slowText("1/cmdline", { signal: AbortSignal.abort() })).rejects.toThrow();
});

test("a file that never answers is null, and no more than two may hang at once", async () => {
  const root = folder();
  const pipes = ["a", "b", "c"].map((name) => join(root, name));
  // Opening a FIFO that nobody writes hangs as a locked process does.
  execFileSync("mkfifo", pipes);
  writeFileSync(join(root, "well"), "fine");
  const files = new ProcFileReader(root);
  expect(await Promise.all(["a", "b"].map((name) => files.slowText(name, { timeout: 20 })))).toEqual([null, null]);
  expect(await files.slowText("c", { timeout: 600_000 })).toBeNull();
  expect(files.text("well")).toBe("fine");
  // Those that hang are let go, and reading goes on.
  for (const pipe of pipes.slice(0, 2)) await (await open(pipe, "w")).close();
  await expect.poll(() => files.slowText("well")).toBe("fine");
});

test("a process that hangs costs its own container, and long tables of all are read whatever hangs", async () => {
  const root = folder();
  for (const [pid, group] of Object.entries({ 1: "one", 2: "one", 3: "two" })) {
    mkdirSync(join(root, pid));
    writeFileSync(join(root, pid, "cgroup"), `0::/${group}\n`);
    if (pid !== "1") writeFileSync(join(root, pid, "cmdline"), "app");
    writeFileSync(join(root, pid, "table"), "rows");
  }
  execFileSync("mkfifo", [join(root, "1/cmdline")]);
  const files = new ProcFileReader(root);
  expect(await files.slowText("1/cmdline", { timeout: 20 })).toBeNull();
  expect(await files.slowText("2/cmdline")).toBeNull();
  expect(await files.slowText("3/cmdline")).toBe("app");
  expect(await files.longText("2/table")).toBe("rows");
  await (await open(join(root, "1/cmdline"), "w")).close();
  await expect.poll(() => files.slowText("2/cmdline")).toBe("app");
});

test("processes are the numbered folders, in order, whatever else is there", () => {
  const root = folder();
  for (const name of ["10", "9", "self", "1x", "0x1", "irq"]) mkdirSync(join(root, name));
  expect(hostPids(new ProcFileReader(root))).toEqual([9, 10]);
  expect(hostPids(new ProcFileReader("/proc"))).toContain(process.pid);
});
